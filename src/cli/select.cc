// `simrt select` and its explanations, `simrt why` and `simrt why-not`.
#include "pipeline/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "cli/command.h"
#include "report/new_test_names.h"
#include "report/selection_view.h"
#include "support/log.h"

namespace simrt::cli {
namespace {

const std::map<std::string, Technique> kTechniques = {{"simrt", Technique::SimRT},
                                                      {"simrt-n", Technique::SimRTN},
                                                      {"rtsc", Technique::Rtsc},
                                                      {"rta", Technique::Rta}};
const std::map<std::string, Ranking> kOrders = {{"pairs", Ranking::Pairs}, {"cost", Ranking::Cost}};
const std::map<std::string, report::Format> kFormats = {{"text", report::Format::Text},
                                                        {"json", report::Format::Json},
                                                        {"names", report::Format::Names},
                                                        {"gtest", report::Format::GTest},
                                                        {"ctest", report::Format::CTest}};

template <class T>
CLI::IsMember keys_of(const std::map<std::string, T>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) names.push_back(name);
  return CLI::IsMember(names);
}

/// What select, why and why-not share.
struct Flags {
  pipeline::SelectRequest request;
  std::string technique, order, rank, format = "text";
  double budget = 0;
  std::uint64_t seed = 0;
  std::string test;
  CLI::Option* budget_option = nullptr;
  CLI::Option* seed_option = nullptr;
};

void add_flags(CLI::App& command, Flags& flags) {
  command.add_option(
      "--base", flags.request.base,
      "Compare with this revision, or its nearest recorded ancestor (default: head's nearest recorded one)");
  command
      .add_option("--head", flags.request.head, "The changed revision; WORKTREE includes uncommitted changes")
      ->capture_default_str();
  command
      .add_option("--technique", flags.technique,
                  "simrt, simrt-n (without the thread condition), rtsc (DejaVu), rta (all)")
      ->check(keys_of(kTechniques));
  command
      .add_option("--order", flags.order,
                  "pairs: new impacted pairs first; cost: new pairs per recorded second")
      ->check(keys_of(kOrders));
  command
      .add_option("--rank", flags.rank, "simrt (as --order says), abc (additional block coverage), random")
      ->check(CLI::IsMember({"simrt", "abc", "random"}));
  flags.budget_option =
      command.add_option("--budget", flags.budget, "Stop the list where the recorded seconds exceed this")
          ->check(CLI::NonNegativeNumber);
  flags.seed_option = command.add_option("--seed", flags.seed, "Seed of every tie and of --rank random");
  command.add_option("-j,--jobs", flags.request.jobs,
                     "Translation units parsed at once (default: one a processor)");
}

pipeline::SelectRequest request_of(const Flags& flags, const GlobalOptions& global) {
  pipeline::SelectRequest request = flags.request;
  request.directory = global.directory;
  request.database = global.database;
  if (!flags.technique.empty()) request.technique = kTechniques.at(flags.technique);
  if (!flags.order.empty()) request.ranking = kOrders.at(flags.order);
  if (flags.rank == "abc") request.ranking = Ranking::Abc;
  if (flags.rank == "random") request.ranking = Ranking::Random;
  if (flags.budget_option->count() > 0) request.budget_seconds = flags.budget;
  if (flags.seed_option->count() > 0) request.seed = flags.seed;
  return request;
}

/// What was selected stays until the process ends, which is soon: to free the two programs object by object
/// would be a tenth of the whole run.
Result<const pipeline::SelectOutcome*> select_interruptibly(pipeline::SelectRequest request) {
  static const pipeline::SelectOutcome* kept = nullptr;
  InterruptToken token;
  InterruptScope scope(token);
  request.interrupt = &token;
  auto outcome = pipeline::run_select(request);
  if (!outcome) return fail(outcome.error());
  kept = new pipeline::SelectOutcome(std::move(*outcome));
  return kept;
}

/// Formats for other programs hold only what those can run; a test that is left out must not go unnoticed.
void warn_of_left_out(const std::vector<std::string>& tests, const std::string& format) {
  constexpr std::size_t kShown = 5;
  if (tests.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(kShown, tests.size()); ++i) names += (i ? ", " : "") + tests[i];
  if (tests.size() > kShown) names += fmt::format(" and {} more", tests.size() - kShown);
  log::warning("{} selected test{} cannot be expressed as --format {}: {}", tests.size(),
               tests.size() == 1 ? "" : "s", format, names);
}

Result<int> run_select_command(const Flags& flags, const GlobalOptions& global) {
  const auto selected = select_interruptibly(request_of(flags, global));
  if (!selected) return fail(selected.error());
  const report::SelectionView& view = (*selected)->view;
  const report::Format format = kFormats.at(flags.format);
  if (Status done = print(report::render_selection(view, format)); !done) return fail(done.error());
  warn_of_left_out(report::left_out_of(view, format), flags.format);
  return 0;
}

/// Accepts the full name, or any part of it that fits one test only.
Result<TestId> find_test(const report::SelectionView& view, const std::string& name) {
  std::vector<std::pair<std::string, TestId>> close;
  for (const auto& [id, test] : view.tests) {
    if (test.name == name) return id;
    if (test.name.find(name) != std::string::npos) close.emplace_back(test.name, id);
  }
  std::sort(close.begin(), close.end());
  if (close.size() == 1) return close.front().second;
  if (close.empty())
    return fail(ErrorCode::Usage, fmt::format("no recorded test is called '{}'", name),
                "simrt history stats; simrt history slow");
  std::string hint = "did you mean";
  for (std::size_t i = 0; i < std::min<std::size_t>(close.size(), 5); ++i)
    hint += (i ? ", " : " ") + close[i].first;
  return fail(ErrorCode::Usage, fmt::format("'{}' fits {} tests", name, close.size()), hint + "?");
}

Result<int> run_why_command(const Flags& flags, const GlobalOptions& global) {
  pipeline::SelectRequest request = request_of(flags, global);
  request.remember = false;
  const auto selected = select_interruptibly(request);
  if (!selected) return fail(selected.error());
  const pipeline::SelectOutcome& outcome = **selected;
  const Result<TestId> test = find_test(outcome.view, flags.test);
  if (!test) return fail(test.error());
  const std::string text =
      report::render_why(outcome.view, *test, outcome.explain_skip(*test), kFormats.at(flags.format));
  if (Status done = print(text); !done) return fail(done.error());
  return 0;
}

}  // namespace

void add_select(Commands commands) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      commands.app.add_subcommand("select", "Choose and order the tests that a change puts at risk");
  command->footer(
      "Examples:\n"
      "  simrt select --base main                    committed work of this branch\n"
      "  simrt select --head WORKTREE                with uncommitted changes\n"
      "  ctest -R \"$(simrt select --format ctest)\"   run just those (ctest keeps its own order)\n"
      "  simrt select --format names --budget 120    what fits two minutes, best first");
  add_flags(*command, *flags);
  command->add_flag("--rest", flags->request.rest,
                    "List the whole suite: the selection first, then the rest by what it covers");
  command->add_option("--format", flags->format, "text, json, names, gtest or ctest")
      ->check(keys_of(kFormats))
      ->capture_default_str();
  command->callback([flags, commands] {
    commands.chosen = [flags, &global = commands.global] { return run_select_command(*flags, global); };
  });
}

void add_why(Commands commands) {
  for (const auto& [name, help] :
       {std::pair{"why", "Why a test is (or is not) selected: pair, both source lines, threads"},
        std::pair{"why-not", "The same question, asked of a test that is not selected"}}) {
    auto flags = std::make_shared<Flags>();
    CLI::App* command = commands.app.add_subcommand(name, help);
    add_flags(*command, *flags);
    command->add_option("--format", flags->format, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    command->add_option("test", flags->test, "Name of the test, or a part of it that fits one test")
        ->required();
    command->callback([flags, commands] {
      commands.chosen = [flags, &global = commands.global] { return run_why_command(*flags, global); };
    });
  }
}

}  // namespace simrt::cli
