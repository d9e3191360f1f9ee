#include "pipeline/explore/explore.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <set>

#include "history/finding_store.h"
#include "pipeline/check/scope.h"
#include "pipeline/explore/explore_test.h"
#include "pipeline/explore/remembered.h"
#include "pipeline/select.h"
#include "pipeline/test_discovery.h"
#include "pipeline/workspace.h"
#include "report/findings_view.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/progress.h"
#include "support/task_pool.h"
#include "testing/executable_identity.h"

namespace simrt::pipeline {
namespace {

using SteadyClock = std::chrono::steady_clock;

std::int64_t unix_time() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

class Exploring {
 public:
  explicit Exploring(const ExploreRequest& request) : request_(request) {}
  Result<report::ExploreView> run();

 private:
  Status open();
  Status open_program();
  Status choose_tests();
  Status add_selected(std::vector<TestCase> found);
  Status begin();
  void explore_all();
  void explore_one(std::size_t index);
  void take_in(std::size_t index, TestExploreResult& result);
  Status keep(const TestCase& test, TestExploreResult& result);
  void add_finding(const TestCase& test, Verified& verified);

  const ExploreRequest& request_;
  SteadyClock::time_point start_ = SteadyClock::now();
  std::optional<Workspace> workspace_;
  std::optional<history::Database> database_;
  history::CheckRunId run_;
  std::string root_, build_;
  std::uint64_t seed_ = 1;
  std::shared_ptr<const Program> program_;
  std::map<std::string, std::vector<std::uint32_t>> impacted_;
  std::unique_ptr<Symbols> symbols_;
  std::unique_ptr<testing::ExecutableIdentity> identity_;
  std::vector<TestCase> tests_;
  std::unique_ptr<Progress> progress_;

  std::mutex mutex_;  // guards what follows while tests run
  std::map<std::uint64_t, Finding> findings_;
  std::set<std::uint64_t> known_;  // confirmed before this run
  std::map<std::uint64_t, std::string> suppressed_;
  std::vector<std::pair<std::size_t, report::ExploredTest>> lines_;
  report::ExploreView view_;
};

/// A single program needs no repository; where there is one, its history is used.
Status Exploring::open_program() {
  TestCase test;
  test.command = request_.program;
  test.directory = canonical_path(request_.directory);
  test.command[0] = absolute_path(test.command[0], test.directory);
  test.name = fmt::format("program {}", fmt::join(request_.program, " "));
  test.id = test_id(test.name);
  tests_.push_back(std::move(test));
  return {};
}

Status Exploring::open() {
  view_.strategy = request_.strategy;
  auto opened = open_workspace(request_.directory, request_.database);
  if (!opened && request_.program.empty()) return fail(opened.error());
  root_ = canonical_path(request_.directory);
  seed_ = request_.seed.value_or(1);
  if (opened) {
    workspace_.emplace(std::move(*opened));
    root_ = workspace_->root;
    seed_ = request_.seed.value_or(workspace_->config.seed);
    const auto head = workspace_->repository.resolve(request_.head);
    if (!head && request_.program.empty()) return fail(head.error());
    if (head) view_.head = *head;
  }
  view_.seed = seed_;
  build_ = workspace_ && request_.build.empty() ? workspace_->config.check_directory
                                                : absolute_path(request_.build, root_);
  if (!request_.history) return {};
  if (workspace_) {
    auto database = open_history(*workspace_, history::OpenMode::Create);
    if (!database) return fail(database.error());
    database_.emplace(std::move(*database));
  } else if (!request_.database.empty()) {
    auto database = history::Database::open(request_.database, {history::OpenMode::Create, {}});
    if (!database) return fail(database.error());
    database_.emplace(std::move(*database));
  } else {
    view_.notes.emplace_back("outside a repository: nothing is kept (--db FILE keeps it)");
  }
  view_.kept = database_.has_value();
  return {};
}

Status Exploring::choose_tests() {
  if (!request_.program.empty()) return open_program();
  auto found = tests_of_check_build(workspace_->config, build_, view_.notes, request_.interrupt);
  if (!found) return fail(found.error());
  std::erase_if(*found, [](const TestCase& test) { return test.disabled || test.command.empty(); });
  const bool named = request_.all || !request_.tests.empty();
  if (!named && request_.base.empty())
    return fail(ErrorCode::Usage, "which tests?", "name them (globs), or --all, or --base REVISION");
  if (!request_.base.empty()) {
    if (Status done = add_selected(*found); !done) return done;
  }
  if (named) {
    auto chosen = tests_named(std::move(*found), request_.all ? std::vector<std::string>{} : request_.tests,
                              "--all explores every test");
    if (!chosen) return fail(chosen.error());
    tests_ = std::move(*chosen);
  }
  return {};
}

Status Exploring::add_selected(std::vector<TestCase> found) {
  SelectRequest select;
  select.directory = request_.directory;
  select.database = request_.database;
  select.base = request_.base;
  select.head = request_.head;
  select.seed = seed_;
  select.interrupt = request_.interrupt;
  const auto outcome = run_select(select);
  if (!outcome) return fail(outcome.error());
  view_.base = outcome->view.base;
  program_ = outcome->program;
  impacted_ = Scope(outcome->view, outcome->program).places();
  for (TestCase& test : found) {
    const auto& decisions = outcome->view.selection.decisions;
    const bool skip = outcome->view.tests.contains(test.id) &&
                      std::any_of(decisions.begin(), decisions.end(), [&](const Decision& decision) {
                        return decision.test == test.id && !decision.run;
                      });
    if (!skip) tests_.push_back(std::move(test));
  }
  return {};
}

Status Exploring::begin() {
  symbols_ = std::make_unique<Symbols>(root_, program_);
  identity_ = std::make_unique<testing::ExecutableIdentity>(std::vector<std::string>{root_, build_});
  if (!database_) return {};
  const auto known = history::known_findings(*database_);
  if (!known) return fail(known.error());
  for (const history::KnownFinding& finding : *known)
    if (finding.record.status == FindingStatus::Confirmed) known_.insert(finding.record.fingerprint);
  const auto suppressions = history::suppressions(*database_);
  if (!suppressions) return fail(suppressions.error());
  const std::int64_t now = unix_time();
  for (const history::Suppression& suppression : *suppressions)
    if (suppression.expires_at > now) suppressed_.emplace(suppression.fingerprint, suppression.reason);
  history::CheckRun run;
  run.head = view_.head;
  run.base = view_.base;
  run.started_at = now;
  run.seed = seed_;
  run.detector = "explore:" + request_.strategy;
  const auto begun = history::begin_check(*database_, run);
  if (!begun) return fail(begun.error());
  run_ = *begun;
  return {};
}

void Exploring::explore_one(std::size_t index) {
  const TestCase& test = tests_[index];
  TestExploreOptions options;
  options.strategy = request_.strategy;
  options.seed = seed_;
  options.executions = request_.executions;
  options.seconds = request_.seconds;
  options.timeout_seconds = request_.timeout_seconds;
  options.keep_going = request_.keep_going;
  options.saturation = request_.saturation;
  options.describe = request_.describe;
  options.symbols = symbols_.get();
  options.impacted = impacted_;
  options.interrupt = request_.interrupt;
  if (database_) {
    const std::lock_guard lock(mutex_);
    const auto executable = identity_->of(test);
    auto known = remember(*database_, test.name, request_.strategy, executable ? *executable : 0, view_.base);
    if (!known) {
      view_.notes.push_back(fmt::format("{}: {}", test.name, known.error().message));
    } else if (known->settled && !request_.again) {
      report::ExploredTest line;
      line.name = test.name;
      line.end = "an earlier exploration left nothing to do";
      line.skipped = true;
      line.notes = {known->note};
      lines_.emplace_back(index, std::move(line));
      progress_->advance(test.name);
      return;
    } else {
      options.remembered = std::move(known->covered);
      options.orders = std::move(known->orders);
      if (!known->note.empty() && !known->settled)
        view_.notes.push_back(fmt::format("{}: {}", test.name, known->note));
    }
  }
  auto result = explore_test(test, options);
  const std::lock_guard lock(mutex_);
  if (!result) {
    view_.notes.push_back(fmt::format("{}: {}", test.name, result.error().message));
    return;
  }
  take_in(index, *result);
}

void Exploring::take_in(std::size_t index, TestExploreResult& result) {
  const TestCase& test = tests_[index];
  for (Verified& verified : result.failures) add_finding(test, verified);
  if (database_) {
    const Status kept = database_->transaction([&] { return keep(test, result); });
    if (!kept)
      view_.notes.push_back(fmt::format("{}: not kept in the history: {}", test.name, kept.error().message));
  }
  lines_.emplace_back(index, explored_line(test.name, result));
  progress_->advance(test.name);
}

void Exploring::add_finding(const TestCase& test, Verified& verified) {
  if (database_)
    verified.finding.witness =
        fingerprint_text(hash_combine(verified.fingerprint, hash_bytes(test.name))).substr(0, 10);
  verified.finding.test_names = {test.name};
  if (known_.contains(verified.fingerprint)) verified.finding.standing = Standing::Known;
  if (const auto suppression = suppressed_.find(verified.fingerprint); suppression != suppressed_.end()) {
    verified.finding.standing = Standing::Suppressed;
    verified.finding.suppression = suppression->second;
  }
  const auto [known, fresh] = findings_.try_emplace(verified.fingerprint, verified.finding);
  if (!fresh) known->second.test_names.push_back(test.name);
}

Status Exploring::keep(const TestCase& test, TestExploreResult& result) {
  history::CheckedTest line{test.name, result.executions + result.extra, result.seconds,
                            fmt::format("{}", fmt::join(result.notes, "; "))};
  if (Status done = history::put_checked_test(*database_, run_, line); !done) return done;
  const auto executable = identity_->of(test);
  for (const Verified& verified : result.failures) {
    const Finding& finding = verified.finding;
    history::FindingRecord record;
    record.fingerprint = verified.fingerprint;
    record.kind = finding.kind;
    record.status = finding.status;
    record.harm = finding.harm;
    record.variable = finding.variable;
    record.title = title(finding);
    record.detail =
        report::finding_json(finding).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    if (Status done = history::put_finding(*database_, run_, record, {test.name}); !done) return done;
    history::Witness witness;
    witness.id = finding.witness;
    witness.test = test.name;
    witness.executable = executable ? *executable : 0;
    witness.switches = verified.switches;
    witness.ending = verified.ending;
    witness.plan = encode_plan(verified.plan, request_.program.empty() ? nullptr : &test);
    if (Status done = history::put_witness(*database_, run_, verified.fingerprint, witness); !done)
      return done;
  }
  if (result.executions == 0 || result.end == ExploreEnd::NotControlled) return {};
  return keep_interleavings(*database_, run_, explored_line(test.name, result), request_.strategy,
                            executable ? *executable : 0, result);
}

void Exploring::explore_all() {
  progress_ = std::make_unique<Progress>("explore", tests_.size());
  run_tasks(
      tests_.size(), request_.jobs == 0 ? available_processors() : request_.jobs,
      [&](std::size_t index) { explore_one(index); }, request_.interrupt);
  progress_->finish();
}

Result<report::ExploreView> Exploring::run() {
  // A wrong name is said before anything runs.
  Knowledge none{{}};
  Symbols no_symbols(".", nullptr);
  RecordedSites no_sites(no_symbols);
  const auto steering = make_steering({request_.strategy, 1, 1, &none, &no_sites});
  if (!steering) return fail(steering.error());
  for (auto step : {&Exploring::open, &Exploring::choose_tests, &Exploring::begin})
    if (Status done = (this->*step)(); !done) return fail(done.error());
  explore_all();
  std::sort(lines_.begin(), lines_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [index, line] : lines_) view_.tests.push_back(std::move(line));
  view_.not_run = tests_.size() - view_.tests.size();
  for (auto& [id, finding] : findings_) {
    std::sort(finding.test_names.begin(), finding.test_names.end());
    view_.findings.push_back(finding);
  }
  view_.seconds = std::chrono::duration<double>(SteadyClock::now() - start_).count();
  if (database_)
    if (Status done = history::finish_check(*database_, run_, view_.seconds, view_.not_run == 0); !done)
      return fail(done.error());
  return std::move(view_);
}

}  // namespace

Result<report::ExploreView> run_explore(const ExploreRequest& request) { return Exploring(request).run(); }

}  // namespace simrt::pipeline
