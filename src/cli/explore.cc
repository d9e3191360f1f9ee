// `simrt explore`.
#include "pipeline/explore/explore.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.h"

namespace simrt::cli {
namespace {

struct Flags {
  pipeline::ExploreRequest request;
  std::uint64_t seed = 0;
  CLI::Option* seed_option = nullptr;
  std::string program;
  std::vector<std::string> words;  // tests, or the program's arguments
  bool no_saturation = false, no_history = false, no_description = false;
  std::string format = "text";
};

Result<int> run(Flags flags, const GlobalOptions& global) {
  flags.request.directory = global.directory;
  flags.request.database = global.database;
  flags.request.saturation = !flags.no_saturation;
  flags.request.history = !flags.no_history;
  flags.request.describe = !flags.no_description;
  if (flags.seed_option->count() > 0) flags.request.seed = flags.seed;
  if (flags.program.empty()) {
    flags.request.tests = flags.words;
  } else {
    flags.request.program = {flags.program};
    flags.request.program.insert(flags.request.program.end(), flags.words.begin(), flags.words.end());
  }
  InterruptToken token;
  InterruptScope scope(token);
  flags.request.interrupt = &token;
  const auto view = pipeline::run_explore(flags.request);
  if (!view) return fail(view.error());
  if (Status done = print(flags.format == "json" ? report::render_explore_json(*view)
                                                 : report::render_explore_text(*view));
      !done)
    return fail(done.error());
  if (token.requested()) return fail(ErrorCode::Interrupted, "interrupted; what was found so far is above");
  const bool counted = flags.no_description && std::any_of(view->tests.begin(), view->tests.end(),
                                                           [](const auto& test) { return test.failed > 0; });
  return view->new_bugs() > 0 || counted ? 1 : 0;
}

}  // namespace

void add_explore(Commands commands) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = commands.app.add_subcommand(
      "explore", "Run tests under many schedules, chosen to cover what was not covered yet");
  command->footer(
      "Needs the check build (see simrt check). Every execution runs one thread at a time under a schedule;\n"
      "what happened is compared with all that was seen before, and the strategy chooses the next schedule.\n"
      "Strategies:\n"
      "  auto        shares the budget among the others and shifts it to those that find new coverage\n"
      "  map         aims at memory-access patterns that are feasible and not covered\n"
      "  dpor        every interleaving up to equivalence; says so when it is done\n"
      "  hapset      dpor, but only orders that were not seen; quick, may miss bugs\n"
      "  pcbN, dfs   every interleaving with at most N preemptions (0 to 4), or at all\n"
      "  hapset+pcbN the same, only where an order was not seen\n"
      "  rf          constrains what reads see (which write, or a value from before it), otherwise like pos\n"
      "  delay       stops one thread before a step that conflicts with another's, which goes first\n"
      "  pair        brings conflicting accesses next to each other, in both orders; otherwise random\n"
      "  period      cuts the threads' work into few periods that follow one another\n"
      "  states      goes back to states that were seldom reached, and on at random: for deep bugs\n"
      "  random, pctN, pos, surw   drawn anew for each execution (pctN: N-1 change points)\n"
      "A failing execution is shortened and kept for simrt replay. One seed decides everything: the same "
      "seed\n"
      "gives the same executions (--seconds makes their number depend on the machine).\n"
      "Exit status 1: a failing execution that the history did not know.\n"
      "Examples:\n"
      "  simrt explore 'Cache*'                      1000 executions of each test, until one fails\n"
      "  simrt explore --base main --seconds 60      the selected tests, what the change touches first\n"
      "  simrt explore --all --strategy dpor -j2     proves small tests\n"
      "  simrt explore --program ./prog -- --verbose one program, without a project around it");
  command->add_option("tests", flags->words, "Globs of test names; with --program its arguments");
  command->add_flag("--all", flags->request.all, "Explore every test");
  command->add_option("--base", flags->request.base,
                      "The tests that simrt select chooses against this revision");
  command->add_option("--head", flags->request.head, "What the check build was built from")
      ->capture_default_str();
  command->add_option("--program", flags->program, "Explore this program instead of tests of a build");
  command->add_option("--strategy", flags->request.strategy, "As above")->capture_default_str();
  flags->seed_option =
      command->add_option("--seed", flags->seed, "Every schedule derives from it (default: as configured)");
  command->add_option("--executions", flags->request.executions, "Most executions of each test; 0: no bound")
      ->capture_default_str();
  command->add_option("--seconds", flags->request.seconds, "Most seconds for each test; 0: no bound")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--timeout", flags->request.timeout_seconds, "Seconds one execution may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--keep-going", flags->request.keep_going, "Go on behind a failing execution");
  command->add_flag("--again", flags->request.again,
                    "Also tests of which an earlier exploration of the same program left nothing");
  command->add_flag("--no-saturation", flags->no_saturation, "Use the whole budget");
  command->add_flag("--no-history", flags->no_history, "Neither read nor keep what was covered");
  command->add_flag("--no-description", flags->no_description,
                    "Only count failing executions: neither shorten nor keep them");
  command->add_option("--build", flags->request.build,
                      "Directory of the check build (default: as configured)");
  command->add_option("-j,--jobs", flags->request.jobs, "Tests at once; 0: one a processor")
      ->capture_default_str();
  command->add_option("--format", flags->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([flags, commands] {
    commands.chosen = [flags, &global = commands.global] { return run(*flags, global); };
  });
}

}  // namespace simrt::cli
