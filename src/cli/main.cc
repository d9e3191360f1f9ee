// The `simrt` command: parses, runs one subcommand, and maps its outcome to the documented exit codes.
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>

#include "cli/command.h"
#include "support/log.h"

namespace {

constexpr const char* kFooter = R"(A first session:
  cmake -B build-simrt --toolchain $(simrt toolchain)   # an instrumented tree beside your own
  cmake --build build-simrt
  simrt init                                            # finds it all, writes .simrt.toml
  simrt record                                          # runs the tests once, stores what each thread covered
  ... edit, commit ...
  simrt select --base main                              # the tests that could reveal a new concurrency bug

Exit codes: 0 success, 1 findings, 2 usage, 3 project set-up, 4 git, 5 history database, 6 analysis,
7 a test could not be started, 8 file system, 70 internal error, 130 interrupted (what was recorded is kept).)";

void add_global_options(CLI::App& app, simrt::cli::GlobalOptions& global) {
  app.add_option("-C,--directory", global.directory, "Run as if started in this directory");
  app.add_option("--db", global.database, "History database (default: .simrt/history.db, or as configured)");
  app.add_flag("-q,--quiet", global.quiet, "Only results and errors");
  app.add_flag("-v,--verbose", global.verbose, "Say what is being done");
}

int run(int argc, char** argv) {
  CLI::App app(
      "simrt: which tests could reveal a new race, deadlock, atomicity or order bug in this change?");
  app.set_version_flag("--version", std::string("simrt " SIMRT_VERSION));
  app.footer(kFooter);
  app.require_subcommand(1);
  app.fallthrough();
  simrt::cli::GlobalOptions global;
  add_global_options(app, global);

  simrt::cli::Action chosen;
  const simrt::cli::Commands commands{app, global, chosen};
  simrt::cli::add_init(commands);
  simrt::cli::add_doctor(commands);
  simrt::cli::add_record(commands);
  simrt::cli::add_select(commands);
  simrt::cli::add_why(commands);
  simrt::cli::add_check(commands);
  simrt::cli::add_explore(commands);
  simrt::cli::add_replay(commands);
  simrt::cli::add_history(commands);
  simrt::cli::add_hook(commands);
  simrt::cli::add_facts(commands);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? 0 : static_cast<int>(simrt::ErrorCode::Usage);
  }
  using simrt::log::Verbosity;
  simrt::log::set_verbosity(global.quiet     ? Verbosity::Quiet
                            : global.verbose ? Verbosity::Verbose
                                             : Verbosity::Normal);
  const simrt::Result<int> outcome = chosen();
  if (outcome) return *outcome;
  simrt::log::error(outcome.error());
  return static_cast<int>(outcome.error().code);
}

}  // namespace

namespace simrt::cli {

Status print(const std::string& text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written && errno != EPIPE)  // `| head` has seen enough: no error
    return fail(ErrorCode::Storage, "cannot write to standard output");
  return {};
}

}  // namespace simrt::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has seen enough is no reason to die
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    simrt::log::error({simrt::ErrorCode::Internal, fmt::format("internal error: {}", error.what()),
                       "please report it with the command line"});
    return static_cast<int>(simrt::ErrorCode::Internal);
  }
}
