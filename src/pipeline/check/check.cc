#include "pipeline/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <unordered_map>

#include "history/finding_store.h"
#include "pipeline/check/check_test.h"
#include "pipeline/check/first_look.h"
#include "pipeline/project/discover.h"
#include "pipeline/select.h"
#include "pipeline/test_discovery.h"
#include "pipeline/workspace.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/progress.h"
#include "support/task_pool.h"
#include "testing/executable_identity.h"
#include "testing/shard.h"

namespace simrt::pipeline {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t unix_time() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

constexpr double kLeastShare = 10;      // seconds of the budget for one test
constexpr std::size_t kShares = 8;      // into how many of them what is left is divided
constexpr std::size_t kSharesSeen = 3;  // where the first look saw a race
constexpr double kPartsLooked = 4;      // one of so many parts of the budget is for the first look

class Checking {
 public:
  explicit Checking(const CheckRequest& request) : request_(request) {}
  Result<report::CheckView> run();

 private:
  Status open();
  Result<std::string> build_directory() const;
  Status choose_tests();
  Status add_selected(std::vector<TestCase> found);
  Status begin();
  void look_at_all();
  void check_all();
  void check_one(std::size_t index, std::size_t still_due);
  std::vector<std::size_t> unfinished() const;
  TestCheckOptions options_for_test();
  void store(std::size_t index, TestCheckResult& result);
  Status keep(const TestCase& test, const TestCheckResult& result, const report::CheckedTestLine& line);
  Finding& merge(const Finding& finding, std::uint64_t id, const std::string& test);
  bool is_of_base(const Finding& finding) const;
  void compare();
  void find_fixed();
  bool settled(std::uint64_t id);
  double seconds_left() const {
    if (request_.budget_seconds <= 0) return std::numeric_limits<double>::infinity();
    return request_.budget_seconds - std::chrono::duration<double>(Clock::now() - start_).count();
  }
  bool out_of_time() const { return seconds_left() <= 0; }

  const CheckRequest& request_;
  Clock::time_point start_ = Clock::now();
  std::optional<Workspace> workspace_;
  std::optional<history::Database> database_;
  history::CheckRunId run_;
  std::string build_;
  std::unique_ptr<Detector> detector_;
  testing::Shard shard_;
  std::uint64_t seed_ = 1;
  Scope scope_;
  std::shared_ptr<const Program> program_;
  std::unique_ptr<Symbols> symbols_;
  std::unique_ptr<testing::ExecutableIdentity> identity_;
  std::vector<TestCase> tests_;
  std::vector<FirstLook> looks_;  // by test
  std::unordered_map<TestId, double> recorded_seconds_;
  std::set<std::string> failed_before_;  // tests whose recorded run failed
  std::unique_ptr<Progress> progress_;
  std::uint64_t round_ = 0;  // of all tests, then of those whose share of the budget was too small

  std::mutex mutex_;  // guards what follows while tests run
  std::map<std::uint64_t, Finding> findings_;
  std::map<std::uint64_t, history::KnownFinding> known_;  // before this run
  std::map<std::uint64_t, history::Suppression> suppressed_;
  std::map<std::size_t, report::CheckedTestLine> lines_;  // by test
  std::set<std::size_t> given_up_;                        // tests that could not be run (any more)
  report::CheckView view_;
};

Status Checking::open() {
  if (!request_.shard.empty()) {
    const auto shard = testing::parse_shard(request_.shard);
    if (!shard) return fail(shard.error());
    shard_ = *shard;
  }
  auto opened = open_workspace(request_.directory, request_.database);
  if (!opened) return fail(opened.error());
  workspace_.emplace(std::move(*opened));
  auto build = build_directory();
  if (!build) return fail(build.error());
  build_ = std::move(*build);
  auto detector = make_detector(request_.detector, build_, workspace_->root);
  if (!detector) return fail(detector.error());
  detector_ = std::move(*detector);
  seed_ = request_.seed.value_or(workspace_->config.seed);
  auto database = open_history(*workspace_, history::OpenMode::Create);
  if (!database) return fail(database.error());
  database_.emplace(std::move(*database));
  const auto head = workspace_->repository.resolve(request_.head);
  if (!head) return fail(head.error());
  view_.head = *head;
  view_.detector = request_.detector;
  if (!detector_->explores())
    view_.notes.push_back(fmt::format(
        "{} watched one run of each test, as the machine scheduled it; {}", request_.detector,
        detector_->drives_check_build() ? "schedules were tried only where they aim at what it saw"
                                        : "no schedule was tried"));
  view_.seed = seed_;
  return {};
}

Result<std::string> Checking::build_directory() const {
  const config::Config& config = workspace_->config;
  if (!request_.build.empty()) return absolute_path(request_.build, workspace_->root);
  if (!takes_plain_build(request_.detector)) return config.check_directory;
  if (!config.build_directory.empty()) return config.build_directory;
  const auto findings = project::discover_project(workspace_->root);
  if (!findings) return fail(findings.error());
  if (const project::BuildDirectory* user = findings->user_build()) return user->path;
  return fail(ErrorCode::Project,
              fmt::format("--detector {} runs your own build; there is none", request_.detector),
              "cmake -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build; or name it with --build");
}

Status Checking::choose_tests() {
  auto found = tests_of_check_build(workspace_->config, build_, view_.notes, request_.interrupt);
  if (!found) return fail(found.error());
  std::erase_if(*found, [](const TestCase& test) { return test.disabled || test.command.empty(); });
  const bool named = request_.all || !request_.tests.empty();
  if (!named || !request_.base.empty()) {
    if (Status done = add_selected(*found); !done) return done;
  }
  if (named) {
    auto chosen = tests_named(std::move(*found), request_.tests, "simrt check --all checks every test");
    if (!chosen) return fail(chosen.error());
    tests_ = std::move(*chosen);
  }
  std::erase_if(tests_, [&](const TestCase& test) { return !shard_.contains(test.name); });
  return {};
}

/// The selection, in its order; tests that only the changed version has come first.
Status Checking::add_selected(std::vector<TestCase> found) {
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
  scope_ = Scope(outcome->view, outcome->program);
  program_ = outcome->program;
  std::map<std::string, TestCase*> by_name;
  for (TestCase& test : found) by_name[test.name] = &test;
  for (TestCase& test : found)
    if (!outcome->view.tests.contains(test.id)) tests_.push_back(test);
  std::vector<std::string> missing;
  for (const Decision& decision : outcome->view.selection.decisions) {
    if (!decision.run) continue;
    recorded_seconds_[decision.test] = decision.seconds;
    const std::string name = report::test_name(outcome->view, decision.test);
    if (std::any_of(decision.reasons.begin(), decision.reasons.end(),
                    [](const Reason& reason) { return reason.kind == ReasonKind::LastRunFailed; }))
      failed_before_.insert(name);
    const auto test = by_name.find(name);
    if (test == by_name.end())
      missing.push_back(name);
    else
      tests_.push_back(*test->second);
  }
  const bool named = request_.all || !request_.tests.empty();
  if (!missing.empty() && !named)
    view_.notes.push_back(fmt::format("{}: selected, but the check build does not have {}",
                                      fmt::join(missing, ", "), missing.size() == 1 ? "it" : "them"));
  return {};
}

Status Checking::begin() {
  const auto known = history::known_findings(*database_);
  if (!known) return fail(known.error());
  for (const history::KnownFinding& finding : *known) known_.emplace(finding.record.fingerprint, finding);
  const auto suppressions = history::suppressions(*database_);
  if (!suppressions) return fail(suppressions.error());
  const std::int64_t now = unix_time();
  for (const history::Suppression& suppression : *suppressions) {
    if (suppression.expires_at > now)
      suppressed_.emplace(suppression.fingerprint, suppression);
    else
      view_.notes.push_back(fmt::format("the suppression of {} has expired ({})",
                                        fingerprint_text(suppression.fingerprint), suppression.reason));
  }
  history::CheckRun run;
  run.head = view_.head;
  run.base = view_.base;
  run.started_at = now;
  run.seed = seed_;
  run.detector = request_.detector;
  const auto begun = history::begin_check(*database_, run);
  if (!begun) return fail(begun.error());
  run_ = *begun;
  symbols_ = std::make_unique<Symbols>(workspace_->root, program_);
  identity_ =
      std::make_unique<testing::ExecutableIdentity>(std::vector<std::string>{workspace_->root, build_});
  return {};
}

bool Checking::settled(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  if (suppressed_.contains(id)) return true;
  const auto found = findings_.find(id);
  return found != findings_.end() && found->second.status == FindingStatus::Confirmed;
}

Finding& Checking::merge(const Finding& finding, std::uint64_t id, const std::string& test) {
  auto [known, fresh] = findings_.try_emplace(id, finding);
  if (!fresh && known->second.status < finding.status) {
    auto tests = std::move(known->second.test_names);
    known->second = finding;
    known->second.test_names = std::move(tests);
  }
  auto& names = known->second.test_names;
  if (std::find(names.begin(), names.end(), test) == names.end()) names.push_back(test);
  return known->second;
}

TestCheckOptions Checking::options_for_test() {
  TestCheckOptions options;
  options.seed = round_ == 0 ? seed_ : hash_combine(seed_, round_);
  options.tries = request_.tries;
  options.schedules = request_.schedules;
  options.timeout_seconds = request_.timeout_seconds;
  options.build = build_;
  options.root = workspace_->root;
  options.detector = detector_.get();
  options.scope = &scope_;
  options.symbols = symbols_.get();
  options.settled = [this](std::uint64_t id) { return settled(id); };
  options.interrupt = request_.interrupt;
  return options;
}

void Checking::check_one(std::size_t index, std::size_t still_due) {
  const TestCase& test = tests_[index];
  if (out_of_time()) return;
  TestCheckOptions options = options_for_test();
  // No test uses up what the others need: a part of what is left of the budget each, the last ones more.
  const std::size_t shares = looks_[index].promise == Promise::Race ? kSharesSeen : kShares;
  const double share =
      std::max(kLeastShare, seconds_left() / static_cast<double>(std::min(shares, still_due)));
  options.seconds_left = [this, share, start = Clock::now()] {
    return std::min(seconds_left(), share - std::chrono::duration<double>(Clock::now() - start).count());
  };
  if (looks_[index].run) options.watched_before = &*looks_[index].run;
  auto result = check_test(test, options);
  looks_[index].run.reset();
  const std::lock_guard lock(mutex_);
  if (round_ == 0) ++(result && result->took_part ? view_.with_part : view_.without_part);
  if (!result) {
    view_.notes.push_back(fmt::format("{}: {}", test.name, result.error().message));
    given_up_.insert(index);
    return;
  }
  if (round_ == 0) view_.outside += result->outside;
  store(index, *result);
  progress_->advance(test.name);
}

void Checking::store(std::size_t index, TestCheckResult& result) {
  const TestCase& test = tests_[index];
  report::CheckedTestLine& line = lines_[index];
  line.name = test.name;
  line.executions += result.executions;
  line.seconds += result.seconds;
  line.complete = result.complete;
  if (!result.took_part) given_up_.insert(index);
  if (round_ != 0 && !result.took_part) return;  // what was seen before stays said
  line.took_part = result.took_part;
  line.notes = result.notes;
  for (Verified& verified : result.confirmed) {
    verified.finding.witness =
        fingerprint_text(hash_combine(verified.fingerprint, hash_bytes(test.name))).substr(0, 10);
    merge(verified.finding, verified.fingerprint, test.name);
  }
  for (const auto* unproven : {&result.seen, &result.potential})
    for (const Candidate& candidate : *unproven) merge(candidate.finding, candidate.fingerprint, test.name);
  for (const Candidate& again : result.seen_again) merge(again.finding, again.fingerprint, test.name);
  const Status kept = database_->transaction([&] { return keep(test, result, line); });
  if (!kept)
    view_.notes.push_back(fmt::format("{}: not kept in the history: {}", test.name, kept.error().message));
}

Status Checking::keep(const TestCase& test, const TestCheckResult& result,
                      const report::CheckedTestLine& line) {
  const auto record = [](const Finding& finding, std::uint64_t id) {
    history::FindingRecord record;
    record.fingerprint = id;
    record.kind = finding.kind;
    record.status = finding.status;
    record.harm = finding.harm;
    record.variable = finding.variable;
    record.title = title(finding);
    record.detail =
        report::finding_json(finding).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    return record;
  };
  const auto put = [&](std::uint64_t id) {
    const auto found = findings_.find(id);
    if (found == findings_.end()) return Status();
    return history::put_finding(*database_, run_, record(found->second, id), {test.name});
  };
  const history::CheckedTest checked{line.name, line.executions, line.seconds,
                                     fmt::format("{}", fmt::join(line.notes, "; "))};
  if (Status done = history::put_checked_test(*database_, run_, checked); !done) return done;
  const auto executable = identity_->of(test);
  for (const Verified& verified : result.confirmed) {
    if (Status done = put(verified.fingerprint); !done) return done;
    history::Witness witness;
    witness.id = verified.finding.witness;
    witness.test = test.name;
    witness.executable = executable ? *executable : 0;
    witness.switches = verified.switches;
    witness.ending = verified.ending;
    witness.plan = encode_plan(verified.plan);
    if (Status done = history::put_witness(*database_, run_, verified.fingerprint, witness); !done)
      return done;
  }
  for (const auto* unproven : {&result.seen, &result.potential})
    for (const Candidate& candidate : *unproven)
      if (Status done = put(candidate.fingerprint); !done) return done;
  for (const Candidate& again : result.seen_again)
    if (Status done = put(again.fingerprint); !done) return done;
  return {};
}

/// A failure that nothing leads from the change to, in tests that failed before it, too.
bool Checking::is_of_base(const Finding& finding) const {
  return finding.kind == FindingKind::Crash && !finding.cause &&
         std::all_of(finding.test_names.begin(), finding.test_names.end(),
                     [&](const std::string& test) { return failed_before_.contains(test); });
}

/// Known and suppressed are what the history says of the time before this run.
void Checking::compare() {
  for (auto& [id, finding] : findings_) {
    const auto known = known_.find(id);
    if (known != known_.end() && known->second.record.status == FindingStatus::Confirmed)
      finding.standing = Standing::Known;
    if (is_of_base(finding)) {
      finding.standing = Standing::Known;
      finding.evidence += finding.evidence.empty() ? "" : "; ";
      finding.evidence += "the test failed when it was recorded, before the change";
    }
    if (const auto suppression = suppressed_.find(id); suppression != suppressed_.end()) {
      finding.standing = Standing::Suppressed;
      finding.suppression = suppression->second.reason;
    }
    view_.findings.push_back(finding);
  }
  std::stable_sort(view_.findings.begin(), view_.findings.end(), [](const Finding& a, const Finding& b) {
    const auto key = [](const Finding& finding) {
      return std::tuple(finding.status == FindingStatus::Confirmed ? 0 : 1, finding.standing,
                        finding.harm == Harm::Shown ? 0 : 1, finding.kind, title(finding));
    };
    return key(a) < key(b);
  });
}

/// Only a complete look at everything, with every test that showed the bug, can say that it is gone.
void Checking::find_fixed() {
  if (!view_.complete || scope_.restricted()) return;
  std::set<std::string> checked;
  for (const report::CheckedTestLine& line : view_.tests)
    if (line.complete) checked.insert(line.name);
  for (const auto& [id, known] : known_) {
    if (known.record.status != FindingStatus::Confirmed || findings_.contains(id) || suppressed_.contains(id))
      continue;
    const bool tests_ran =
        !known.tests.empty() && std::all_of(known.tests.begin(), known.tests.end(),
                                            [&](const std::string& test) { return checked.contains(test); });
    if (tests_ran) view_.fixed.push_back({fingerprint_text(id), known.record.title});
  }
}

/// With a budget that may not reach all tests: those that show a race in a first look come first, the
/// others keep their order.
void Checking::look_at_all() {
  looks_.resize(tests_.size());
  if (request_.budget_seconds <= 0 || tests_.size() < 2 || !detector_->explores()) return;
  std::vector<double> recorded;
  for (const TestCase& test : tests_) {
    const auto known = recorded_seconds_.find(test.id);
    recorded.push_back(known == recorded_seconds_.end() ? 0 : known->second);
  }
  const unsigned jobs = request_.jobs == 0 ? available_processors() : request_.jobs;
  auto looks = first_looks(tests_, recorded, options_for_test(), seconds_left() / kPartsLooked, jobs);
  std::vector<TestCase> tests;
  looks_.clear();
  for (const std::size_t index : by_promise(looks)) {
    tests.push_back(std::move(tests_[index]));
    looks_.push_back(std::move(looks[index]));
  }
  tests_ = std::move(tests);
}

/// Those that the budget stopped before their end.
std::vector<std::size_t> Checking::unfinished() const {
  std::vector<std::size_t> out;
  for (const auto& [index, line] : lines_)
    if (line.took_part && !line.complete && !given_up_.contains(index)) out.push_back(index);
  return out;
}

/// What the others left of the budget belongs to the tests whose share was too small: they go on, with other
/// schedules.
void Checking::check_all() {
  std::vector<std::size_t> due(tests_.size());
  std::iota(due.begin(), due.end(), std::size_t{0});
  const unsigned jobs = request_.jobs == 0 ? available_processors() : request_.jobs;
  for (;; ++round_) {
    progress_ = std::make_unique<Progress>(round_ == 0 ? "check" : "check further", due.size());
    run_tasks(
        due.size(), jobs, [&](std::size_t i) { check_one(due[i], due.size() - i); }, request_.interrupt);
    progress_->finish();
    due = unfinished();
    const bool stopped = request_.interrupt && request_.interrupt->requested();
    if (due.empty() || stopped || request_.budget_seconds <= 0 || seconds_left() < kLeastShare) return;
  }
}

Result<report::CheckView> Checking::run() {
  for (auto step : {&Checking::open, &Checking::choose_tests, &Checking::begin})
    if (Status done = (this->*step)(); !done) return fail(done.error());
  look_at_all();
  check_all();
  for (auto& [index, line] : lines_) view_.tests.push_back(std::move(line));
  view_.not_run = tests_.size() - view_.tests.size();
  view_.complete = view_.not_run == 0 && std::all_of(view_.tests.begin(), view_.tests.end(),
                                                     [](const auto& line) { return line.complete; });
  compare();
  find_fixed();
  view_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  if (Status done = history::finish_check(*database_, run_, view_.seconds, view_.complete); !done)
    return fail(done.error());
  return std::move(view_);
}

}  // namespace

Result<report::CheckView> run_check(const CheckRequest& request) { return Checking(request).run(); }

}  // namespace simrt::pipeline
