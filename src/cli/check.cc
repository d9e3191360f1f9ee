// `simrt check`.
#include "pipeline/check/check.h"

#include <fmt/format.h>

#include <memory>

#include "cli/command.h"

namespace simrt::cli {
namespace {

struct Flags {
  pipeline::CheckRequest request;
  std::uint64_t seed = 0;
  CLI::Option* seed_option = nullptr;
  std::string format = "text";
};

Result<int> run(Flags flags, const GlobalOptions& global) {
  flags.request.directory = global.directory;
  flags.request.database = global.database;
  if (flags.seed_option->count() > 0) flags.request.seed = flags.seed;
  InterruptToken token;
  InterruptScope scope(token);
  flags.request.interrupt = &token;
  const auto view = pipeline::run_check(flags.request);
  if (!view) return fail(view.error());
  if (Status done =
          print(flags.format == "json" ? report::render_check_json(*view) : report::render_check_text(*view));
      !done)
    return fail(done.error());
  if (token.requested())
    return fail(ErrorCode::Interrupted, "interrupted; what was found so far is above and in the history",
                "run simrt check again for the rest");
  if (view->new_bugs() == 0 && view->nothing_checked())
    return fail(ErrorCode::Execution, "no test was checked: see the notes above",
                "simrt check --build names the build made with SIMRT_BUILD=check");
  return view->new_bugs() == 0 ? 0 : 1;
}

}  // namespace

void add_check(Commands commands) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = commands.app.add_subcommand(
      "check", "Run the chosen tests under detector and scheduler; prove and keep what they find");
  command->footer(
      "Needs a second build, for checking:\n"
      "  cmake -B build-check --toolchain \"$(simrt toolchain)\" -DSIMRT_BUILD=check "
      "-DCMAKE_BUILD_TYPE=Debug\n"
      "  cmake --build build-check\n"
      "Each selected test runs freely under the detectors once. What they predict is then driven into a "
      "real\n"
      "execution: both threads of a race before the same memory, each order taken; the threads of a lock "
      "cycle\n"
      "stuck; an assertion that fails. Only what was witnessed so is called a bug; the rest is listed as "
      "potential.\n"
      "Other detectors: --detector tsan runs the programs of the same check build under ThreadSanitizer's "
      "runtime and\n"
      "drives what it reports into a witness; helgrind and drd run your own build (build.directory) under "
      "valgrind, and\n"
      "what they report is potential: they do not know the orders of atomics. Exit status 3: the tool is "
      "missing.\n"
      "Exit status 1: a proven bug that the history did not know. 3: there is no build for checking; 7: no "
      "test could be checked in it. Ctrl-C keeps what was found.\n"
      "Examples:\n"
      "  simrt check --base main            the tests that simrt select chooses, what the change touches\n"
      "  simrt check --all                  every test, findings anywhere\n"
      "  simrt check --tests 'Cache*'       these tests, findings anywhere (with --base: what it touches)\n"
      "  simrt check --all --detector tsan  the same findings, by ThreadSanitizer\n"
      "  simrt check --budget 300 --shard 2/4 --seed 7\n"
      "  simrt replay 3f2a9c                a witness again; its id stands in the report");
  command->add_option(
      "--build", flags->request.build,
      "Directory of the build whose tests are run (default: build.check of .simrt.toml, build-check)");
  command->add_option("--base", flags->request.base, "Compare with this revision, as simrt select does");
  command
      ->add_option("--head", flags->request.head,
                   "What the check build was built from; WORKTREE for the files")
      ->capture_default_str();
  command->add_option("--tests", flags->request.tests,
                      "Check the tests whose name matches a glob (repeatable) instead of the selected ones");
  command->add_flag("--all", flags->request.all, "Check every test");
  command
      ->add_option("--detector", flags->request.detector,
                   "builtin; tsan: ThreadSanitizer, on the same check build; helgrind, drd: valgrind, on "
                   "your own build")
      ->check(CLI::IsMember({"builtin", "tsan", "helgrind", "drd"}))
      ->capture_default_str();
  command
      ->add_option(
          "--budget", flags->request.budget_seconds,
          "Stop after this many seconds; what is known by then is reported. A quarter (more, while "
          "nothing came of it) goes into quick runs of each test, and those that show a race or a failure "
          "come first; then a test uses at most an eighth of what is left (a third where a race was seen), "
          "the last "
          "ones more")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--timeout", flags->request.timeout_seconds, "Seconds one execution may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("-j,--jobs", flags->request.jobs,
                   "Tests at once; 1 gives the same findings for the same seed, 0: one a processor")
      ->capture_default_str();
  command->add_option("--shard", flags->request.shard, "Only this part of the tests: i/n, split by name");
  flags->seed_option =
      command->add_option("--seed", flags->seed, "Every schedule derives from it (default: as configured)");
  command
      ->add_option("--schedules", flags->request.schedules,
                   "Schedules tried of each test beside those that aim at a potential bug")
      ->capture_default_str();
  command->add_option("--tries", flags->request.tries, "Executions that aim at each order of a potential bug")
      ->capture_default_str();
  command->add_option("--format", flags->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([flags, commands] {
    commands.chosen = [flags, &global = commands.global] { return run(*flags, global); };
  });
}

}  // namespace simrt::cli
