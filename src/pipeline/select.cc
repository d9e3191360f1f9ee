#include "pipeline/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "config/glob.h"
#include "config/rules.h"
#include "diff/diff.h"
#include "history/block_numbers.h"
#include "history/facts_store.h"
#include "history/run_store.h"
#include "history/selection_store.h"
#include "impact/impact.h"
#include "pipeline/changed_program.h"
#include "pipeline/head_commands.h"
#include "pipeline/recorded_base.h"
#include "pipeline/test_changes.h"
#include "pipeline/test_code.h"
#include "pipeline/test_discovery.h"
#include "pipeline/workspace.h"
#include "select/select.h"
#include "support/log.h"
#include "support/task_pool.h"

namespace simrt::pipeline {
namespace {

/// Everything a selection reads, kept alive as long as its explanations may be asked for.
struct Selecting {
  SelectRequest request;
  std::optional<Workspace> workspace;
  std::optional<history::Database> database;
  RecordedBase base;
  std::string head;
  Program before;
  ChangedProgram changed;
  ProgramDiff diff;
  Impact impact;
  history::BlockNumbering numbering;
  std::vector<history::RecordedRun> runs;
  std::vector<RecordedTest> tests;
  TestChanges test_changes;
  std::vector<report::Fallback> fallbacks;
  std::size_t changed_files = 0;

  Status open();
  Status load();
  Status compare();
  Status skip_comparison();
  Status analyse();
  bool may_matter() const;
  void gather_tests();
  void apply_rules();
  select::SelectOptions options() const;
  select::SelectInput input() const;
  select::BlockResolution resolve(BlockId block) const;
  report::SelectionView view(Selection selection) const;
  void remember(const Selection& selection);
};

bool is_changed(const FunctionDiff& function) { return function.status != FunctionStatus::Unchanged; }

Status Selecting::open() {
  auto opened = open_workspace(request.directory, request.database);
  if (!opened) return fail(opened.error());
  workspace.emplace(std::move(*opened));
  const auto resolved = workspace->repository.resolve(request.head);
  if (!resolved) return fail(resolved.error());
  head = *resolved;
  auto history = open_history(*workspace, history::OpenMode::ReadOnly);
  if (!history) return fail(history.error());
  database.emplace(std::move(*history));
  auto found = find_recorded_base(*workspace, *database, request.base, head);
  if (!found) return fail(found.error());
  base = std::move(*found);
  fallbacks = base.fallbacks;
  return {};
}

Status Selecting::load() {
  auto program = history::load_program(*database, base.revision.id);
  if (!program) return fail(program.error());
  before = std::move(*program);
  auto numbers = history::load_block_numbers(*database, before);
  if (!numbers) return fail(numbers.error());
  numbering = std::move(*numbers);
  auto recorded = history::recorded_tests(*database, base.revision.id);
  if (!recorded) return fail(recorded.error());
  runs = std::move(*recorded);
  std::erase_if(
      runs, [&](const history::RecordedRun& run) { return is_excluded(workspace->config, run.test.name); });
  return {};
}

/// The technique that runs every test asks for nothing that a parse could tell.
Status Selecting::skip_comparison() {
  changed.after = before;
  fallbacks.push_back(
      {"not-analysed", "rta runs every recorded test: nothing was parsed, new tests are not listed", ""});
  return {};
}

Status Selecting::compare() {
  const auto changes = workspace->repository.diff(base.revision.sha, head);
  if (!changes) return fail(changes.error());
  changed_files = changes->size();
  if (options().technique == Technique::Rta) return skip_comparison();
  auto tree = workspace->repository.tree(head);
  if (!tree) return fail(tree.error());
  const auto base_tree = workspace->repository.tree(base.revision.sha);
  if (!base_tree) return fail(base_tree.error());
  const auto commands = head_commands(*workspace, *database, base.revision.id, **tree, *changes);
  if (!commands) return fail(commands.error());
  fallbacks.insert(fallbacks.end(), commands->fallbacks.begin(), commands->fallbacks.end());
  const analysis::Analyzer analyzer =
      make_analyzer(*workspace, *tree, (*base_tree)->files(), request.interrupt, /*points=*/false);
  const FactsCache cache(workspace->config.cache_directory, identity_of_this_program());
  const unsigned jobs = request.jobs != 0 ? request.jobs : available_processors();
  auto built = build_changed_program(
      {before, *changes, commands->units, analyzer, cache, workspace->root, jobs, request.interrupt});
  if (!built) return fail(built.error());
  changed = std::move(*built);
  fallbacks.insert(fallbacks.end(), changed.fallbacks.begin(), changed.fallbacks.end());

  diff::DiffOptions options;
  for (const FileChange& change : *changes)
    if (change.status == FileStatus::Renamed)
      options.renamed_files.emplace_back(change.old_path, change.new_path);
  options.restrict_to = &changed.touched;
  diff = diff::diff_programs(before, changed.after, options);
  for (const FunctionDiff& function : diff.functions)
    if (is_changed(function))
      log::detail("{}: {}",
                  function.status == FunctionStatus::Added     ? "new function"
                  : function.status == FunctionStatus::Removed ? "removed function"
                                                               : "changed function",
                  function.id ? changed.after.name_of(function.id) : before.name_of(function.old_id));
  return {};
}

Status Selecting::analyse() {
  if (options().technique == Technique::Rta) return {};
  std::set<std::string> own = test_files(before);
  own.merge(test_files(changed.after));
  impact::ImpactOptions options;
  options.is_test_code = [&](const FunctionFacts& function) { return own.contains(function.file); };
  impact = impact::analyse_impact(before, changed.after, diff, options);
  impact.unknowns.insert(impact.unknowns.end(), changed.unknowns.begin(), changed.unknowns.end());
  return {};
}

BlockSet blocks_of(const history::BlockNumbering& numbering, FunctionId function) {
  BlockSet blocks;
  if (const auto range = numbering.range(function))
    blocks.addRange(range->base, std::uint64_t{range->base} + range->span);
  return blocks;
}

/// A failed, crashed or cut-off run vouches only for what it covered.
bool vouches_for_all(const TestRun& run) {
  return run.outcome == Outcome::Passed || run.outcome == Outcome::Skipped;
}

std::string outcome_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::Failed:
      return "its last recorded run failed";
    case Outcome::Crashed:
      return "its last recorded run crashed";
    case Outcome::TimedOut:
      return "its last recorded run timed out";
    default:
      return "it was not run when the base was recorded";
  }
}

/// Whether the change does anything. Where it does not (comments, documentation, formatting), it is no matter
/// what a test covers.
bool Selecting::may_matter() const {
  if (options().technique == Technique::Rta) return changed_files != 0;
  if (!impact.pairs.empty() || !impact.unknowns.empty() || !changed.fallbacks.empty()) return true;
  return std::any_of(diff.functions.begin(), diff.functions.end(), is_changed);
}

void Selecting::gather_tests() {
  const bool matters = may_matter();
  std::vector<TestWithCoverage> with_coverage;
  for (const history::RecordedRun& run : runs)
    with_coverage.push_back({&run.test, run.last.has_coverage ? &run.last.coverage : nullptr});
  test_changes = find_test_changes(before, changed.after, diff, with_coverage,
                                   [&](FunctionId function) { return blocks_of(numbering, function); });
  for (const history::RecordedRun& run : runs) {
    RecordedTest test;
    test.test = run.test.id;
    test.name = run.test.name;
    test.seconds = run.last.seconds;
    test.outcome = run.last.outcome;
    test.coverage = run.last.has_coverage ? &run.last.coverage : nullptr;
    const auto force = [&](ReasonKind kind, std::string text) {
      test.forced.push_back({kind, 0, "", "", std::move(text)});
    };
    if (test_changes.deleted.contains(test.test)) continue;
    if (run.test.disabled) continue;
    if (const auto found = test_changes.changed.find(test.test); found != test_changes.changed.end())
      force(ReasonKind::ChangedTest, fmt::format("its own code changed: {}", found->second));
    if (matters && !test.coverage) force(ReasonKind::NoCoverage, "no usable coverage of it is recorded");
    if (matters && !vouches_for_all(run.last))
      force(ReasonKind::LastRunFailed, outcome_text(run.last.outcome));
    tests.push_back(std::move(test));
  }
}

void Selecting::apply_rules() {
  for (const FileChange& change : changed.outside) {
    const std::string& path = change.new_path.empty() ? change.old_path : change.new_path;
    const config::Rule& rule = config::rule_for(workspace->config.rules, path);
    if (rule.action == config::RuleAction::Ignore) continue;
    if (config::any_glob_match(workspace->config.source_files, path)) {
      fallbacks.push_back(
          {"not-compiled", fmt::format("{} is compiled or included by nothing here", path), path});
      continue;
    }
    fallbacks.push_back({"config-rule",
                         fmt::format("{}: {} ({})", path, rule.reason.empty() ? rule.pattern : rule.reason,
                                     config::action_text(rule)),
                         path});
    for (RecordedTest& test : tests)
      if (rule.action == config::RuleAction::All || config::name_match(rule.tests, test.name))
        test.forced.push_back(
            {ReasonKind::ConfigRule, 0, "", "", fmt::format("{} changed (rule \"{}\")", path, rule.pattern)});
  }
}

select::BlockResolution Selecting::resolve(BlockId block) const {
  if (const auto number = numbering.number(block)) return select::BlockResolution::known(*number);
  const FunctionFacts* function = before.function(block.function);
  return function && function->has(kStaticInit) ? select::BlockResolution::static_init()
                                                : select::BlockResolution::unknown();
}

Technique technique_of(const std::string& name) {
  return name == "rta"       ? Technique::Rta
         : name == "rtsc"    ? Technique::Rtsc
         : name == "simrt-n" ? Technique::SimRTN
                             : Technique::SimRT;
}

Ranking ranking_of(const config::Config& config) {
  if (config.rank == "abc") return Ranking::Abc;
  if (config.rank == "random") return Ranking::Random;
  return config.order == "pairs" ? Ranking::Pairs : Ranking::Cost;
}

select::SelectOptions Selecting::options() const {
  const config::Config& config = workspace->config;
  select::SelectOptions options;
  options.technique = request.technique.value_or(technique_of(config.technique));
  options.ranking = request.ranking.value_or(ranking_of(config));
  options.rest = request.rest;
  options.seed = request.seed.value_or(config.seed);
  if (request.budget_seconds)
    options.budget_seconds = request.budget_seconds;
  else if (config.budget_seconds > 0)
    options.budget_seconds = config.budget_seconds;
  return options;
}

select::SelectInput Selecting::input() const {
  return {impact,
          diff,
          tests,
          [this](BlockId block) { return resolve(block); },
          [this](FunctionId function) {
            std::vector<BlockNumber> numbers;
            for (BlockNumber number : blocks_of(numbering, function)) numbers.push_back(number);
            return numbers;
          },
          options()};
}

std::string name_of(Technique technique) {
  switch (technique) {
    case Technique::SimRT:
      return "simrt";
    case Technique::SimRTN:
      return "simrt-n";
    case Technique::Rtsc:
      return "rtsc";
    case Technique::Rta:
      return "rta";
  }
  return "simrt";
}

std::string name_of(Ranking ranking) {
  switch (ranking) {
    case Ranking::Pairs:
      return "pairs";
    case Ranking::Cost:
      return "cost";
    case Ranking::Abc:
      return "abc";
    case Ranking::Random:
      return "random";
  }
  return "cost";
}

report::SelectionView Selecting::view(Selection selection) const {
  report::SelectionView view;
  view.base = base.revision.sha;
  view.requested_base = base.requested.empty() ? base.revision.sha : base.requested;
  view.head = head;
  view.changed_files = changed_files;
  view.changed_functions =
      static_cast<std::size_t>(std::count_if(diff.functions.begin(), diff.functions.end(), is_changed));
  view.parsed_units = changed.parsed_units;
  view.total_units = changed.after.units.size();
  view.impact = impact;
  view.selection = std::move(selection);
  view.fallbacks = fallbacks;
  view.new_tests = test_changes.added;
  view.technique = name_of(options().technique);
  view.ranking = name_of(options().ranking);
  view.seed = options().seed;
  for (const history::RecordedRun& run : runs) view.tests.emplace(run.test.id, run.test);
  for (const SharedAccess& access : impact.accesses) {
    for (FunctionId function : {access.function, access.mapped_function})
      if (function)
        view.function_names.try_emplace(function, changed.after.function(function)
                                                      ? changed.after.name_of(function)
                                                      : before.name_of(function));
    view.variable_names.try_emplace(access.variable, changed.after.variable(access.variable)
                                                         ? changed.after.name_of(access.variable)
                                                         : before.name_of(access.variable));
  }
  return view;
}

/// Keeps the pairs for `history pairs`. A history that cannot be written (read-only media, busy) costs only
/// that.
void Selecting::remember(const Selection& selection) {
  // The last connection to close folds the write-ahead log back into the file; a reader cannot, and the log
  // would grow with every selection.
  database.reset();
  auto writable = open_history(*workspace, history::OpenMode::ReadWrite);
  if (!writable) return log::detail("the selection is not kept in the history: {}", writable.error().message);
  history::SelectionRecord record;
  record.base = base.revision.id;
  record.head = head;
  record.technique = options().technique;
  record.created_at =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  const auto stored = history::put_selection(*writable, record, impact, selection, changed.after);
  if (!stored) log::detail("the selection is not kept in the history: {}", stored.error().message);
}

}  // namespace

Result<SelectOutcome> run_select(const SelectRequest& request) {
  auto work = std::make_shared<Selecting>();
  work->request = request;
  for (auto step : {&Selecting::open, &Selecting::load, &Selecting::compare, &Selecting::analyse})
    if (Status done = (*work.*step)(); !done) return fail(done.error());
  work->gather_tests();
  work->apply_rules();
  Selection selection = select::select(work->input());
  if (request.remember) work->remember(selection);
  SelectOutcome outcome;
  outcome.view = work->view(std::move(selection));
  outcome.program = std::shared_ptr<const Program>(work, &work->changed.after);
  outcome.explain_skip = [work](TestId test) { return select::explain_skip(work->input(), test); };
  return outcome;
}

}  // namespace simrt::pipeline
