// `simrt replay`.
#include "pipeline/check/replay.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "report/findings_view.h"

namespace simrt::cli {
namespace {

std::string text_of(const pipeline::ReplayOutcome& outcome) {
  std::string out = fmt::format("{}{}\n", outcome.title.empty() ? "" : outcome.title + "\n",
                                fmt::format("test {}, {} context switches; expected end: {}", outcome.test,
                                            outcome.switches, outcome.expected));
  if (!outcome.interleaving.empty())
    out += "\n" + report::interleaving_text(outcome.interleaving, "  ") + "\n";
  for (const auto& [ending, times] : outcome.endings) out += fmt::format("{:>6} x {}\n", times, ending);
  if (outcome.shown) out += fmt::format("{:>6} x the race was seen\n", *outcome.shown);
  if (outcome.times == 1 && !outcome.output.empty()) out += "output:\n" + outcome.output;
  for (const std::string& note : outcome.notes) out += fmt::format("note: {}\n", note);
  return out;
}

Result<int> run(pipeline::ReplayRequest request, const GlobalOptions& global) {
  request.directory = global.directory;
  request.database = global.database;
  InterruptToken token;
  std::optional<InterruptScope> scope;
  if (!request.gdb) scope.emplace(token);
  request.interrupt = &token;
  const auto outcome = pipeline::run_replay(request);
  if (!outcome) return fail(outcome.error());
  if (request.gdb) return 0;
  if (Status done = print(text_of(*outcome)); !done) return fail(done.error());
  return outcome->same == outcome->times ? 0 : 1;
}

}  // namespace

void add_replay(Commands commands) {
  auto request = std::make_shared<pipeline::ReplayRequest>();
  CLI::App* command = commands.app.add_subcommand(
      "replay", "Run a witness of simrt check again: the same schedule, the same end");
  command->footer(
      "Exit status 0: every execution ended as the witness did (or, where one was cut at a limit, showed its "
      "race);\n"
      "1: some did not (the program changed).\n"
      "Examples:\n"
      "  simrt replay 3f2a9c               once, with the program's output\n"
      "  simrt replay 3f2a9c --trace       prints the interleaving, one column a thread\n"
      "  simrt replay 3f2a9c --times 100   counts how the executions end\n"
      "  simrt replay 3f2a9c --gdb         the same under gdb: break where you like, the schedule holds;\n"
      "                                    where threads wait for ever it stops with SIGTRAP");
  command->add_option("id", request->witness, "Id of the witness, or the beginning of it")->required();
  command->add_option("--build", request->build,
                      "Directory of the check build (default: build.check of .simrt.toml, build-check)");
  command->add_flag("--trace", request->trace, "Print the interleaving");
  command->add_option("--times", request->times, "Executions")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--gdb", request->gdb, "Run the program under gdb on this terminal");
  command
      ->add_option("--gdb-commands", request->gdb_commands,
                   "With --gdb: run this file of gdb commands, then end")
      ->check(CLI::ExistingFile);
  command->add_option("--timeout", request->timeout_seconds, "Seconds one execution may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->callback([request, commands] {
    if (!request->gdb_commands.empty()) {
      request->gdb = true;
      request->gdb_commands = std::filesystem::absolute(request->gdb_commands).string();
    }
    commands.chosen = [request, &global = commands.global] { return run(*request, global); };
  });
}

}  // namespace simrt::cli
