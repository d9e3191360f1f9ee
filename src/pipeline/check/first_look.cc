#include "pipeline/check/first_look.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <optional>
#include <utility>

#include "pipeline/check/candidate_order.h"
#include "pipeline/check/portfolio.h"
#include "support/hash.h"
#include "support/progress.h"
#include "support/task_pool.h"

namespace simrt::pipeline {
namespace {

constexpr double kMostSeconds = 3;       // of one look
constexpr double kMostSecondsAgain = 1;  // of a later one, under another schedule
constexpr unsigned kMostRounds = 12;
// While no look has shown a race, looking at others is worth more than driving a test that showed none: then
// looks take so many times as long in all.
constexpr double kLonger = 2.4;

Promise promise_of(const testing::Execution& execution, bool ended, const TestCheckOptions& options) {
  for (Candidate& candidate : candidates_of(execution, *options.symbols)) {
    if (!candidate.witnessed || candidate.weak || candidate.finding.kind != FindingKind::Race ||
        options.settled(candidate.fingerprint) || !options.scope->covers(candidate.finding))
      continue;
    candidate.finding.cause = options.scope->cause(candidate.finding);
    if (!options.scope->restricted() || is_impacted_race(candidate)) return Promise::Race;
  }
  const bool one_thread = std::max<std::size_t>(execution.thread_count, execution.threads.size()) < 2;
  return one_thread && ended ? Promise::Alone : Promise::Open;
}

/// Whether it pays to run tests under control first, by what came of it so far. Thread-safe.
class ControlledLooks {
 public:
  bool pay(double recorded_seconds) const {
    return recorded_seconds >= kLeastRecorded && (tried_ < kTried || kTimesEnded * ended_ >= tried_);
  }
  void add(bool ended) {
    ++tried_;
    if (ended) ++ended_;
  }

 private:
  static constexpr double kLeastRecorded = 0.2;
  static constexpr unsigned kTried = 4, kTimesEnded = 3;
  std::atomic<unsigned> tried_ = 0, ended_ = 0;
};

/// An execution under control, watched; nothing where it did not come to its end in `seconds`.
std::optional<Observed> watch_controlled(TestProgram& program, testing::CheckPlan plan, double seconds,
                                         const InterruptToken* interrupt) {
  plan.mode = format::RunMode::Control;
  plan.detectors = format::kDetectRaces | format::kDetectPotentialRaces;
  program.set_timeout(seconds);
  auto seen = program.run(plan, interrupt);
  if (!seen || seen->cut || seen->result.end == testing::CheckEnd::NotUnderPlan) return std::nullopt;
  return std::move(*seen);
}

/// As what check_test need not watch again. What it comes to when it runs freely is not known.
WatchedRun as_watched(Observed seen) {
  return {std::move(seen.result.execution), true, std::move(seen.ending), true};
}

std::vector<std::size_t> indexes(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// Rounds of looks at all tests, each test in one task at a time.
class Looking {
 public:
  Looking(const std::vector<TestCase>& tests, const std::vector<double>& recorded,
          const TestCheckOptions& options, double seconds)
      : tests_(tests),
        recorded_(recorded),
        options_(options),
        seconds_(seconds),
        looks_(tests.size()),
        controlled_(tests.size()),
        quickest_(indexes(tests.size())) {
    std::stable_sort(quickest_.begin(), quickest_.end(),
                     [&](std::size_t a, std::size_t b) { return recorded_[a] < recorded_[b]; });
  }

  std::vector<FirstLook> run(unsigned jobs) {
    for (unsigned round = 0; round <= kMostRounds && (round == 0 || !promising_) && left() > 0; ++round) {
      Progress progress(round == 0 ? "first look" : "other schedules", tests_.size());
      each(jobs, [&](std::size_t index, double left) {
        // A test that cannot be run is told of when it is checked.
        if (round == 0) {
          first(index, std::min(left, kMostSeconds));
        } else {
          again(index, round - 1, std::min(left, kMostSecondsAgain));
        }
        progress.advance(tests_[index].name);
      });
      progress.finish();
    }
    return std::move(looks_);
  }

 private:
  /// What is known of a test's default execution under control.
  struct Controlled {
    bool failed = false;   ///< it goes wrong by itself
    bool possible = true;  ///< it can be, as far as is known
    std::uint64_t points = 0;
  };

  double left() const {
    return seconds_ * (promising_ ? 1 : kLonger) -
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  template <class Look>
  void each(unsigned jobs, Look look) {
    run_tasks(
        tests_.size(), jobs,
        [&](std::size_t number) {
          if (const double seconds = left(); seconds > 0) look(quickest_[number], seconds);
        },
        options_.interrupt);
  }

  void keep(std::size_t index, Promise promise, bool ended, WatchedRun run) {
    if (promise <= Promise::Failure) promising_ = true;
    looks_[index] = {promise, ended, std::move(run)};
  }

  /// The default schedule. False: it did not come to its end.
  bool control(TestProgram& program, std::size_t index, const testing::CheckPlan& plan, double seconds) {
    auto seen = watch_controlled(program, plan, seconds, options_.interrupt);
    Controlled& known = controlled_[index];
    known.possible = seen.has_value();
    if (!seen) return false;
    known.failed = seen->failed;
    known.points = seen->result.execution.points;
    const Promise promise = promise_of(seen->result.execution, true, options_);
    // A free look that shows no less is the fuller one.
    if (!looks_[index].run || promise <= Promise::Failure)
      keep(index, promise, true, as_watched(std::move(*seen)));
    return true;
  }

  void first(std::size_t index, double seconds) {
    auto program = TestProgram::create(tests_[index], {seconds, false});
    if (!program) return;
    const testing::CheckPlan plan = watching_plan(tests_[index], options_);
    if (pays_.pay(recorded_[index])) {
      const bool ended = control(*program, index, plan, std::min(seconds, recorded_[index] / 2));
      pays_.add(ended);
      if (ended) return;
      program->set_timeout(seconds);
    }
    auto seen = options_.detector->watch({&tests_[index], &*program, plan, seconds, options_.interrupt});
    if (!seen || !seen->took_part) return;
    const Promise promise = promise_of(seen->execution, !seen->cut, options_);
    keep(index, promise, !seen->cut, std::move(*seen));
  }

  /// Another schedule, one of those that a check tries blindly.
  void again(std::size_t index, unsigned round, double seconds) {
    Controlled& known = controlled_[index];
    if (!looks_[index].run || looks_[index].promise != Promise::Open || !known.possible) return;
    auto program = TestProgram::create(tests_[index], {seconds, false});
    if (!program) return;
    const testing::CheckPlan plan = watching_plan(tests_[index], options_);
    if (known.points == 0 && (!control(*program, index, plan, seconds) || known.points == 0)) {
      known.possible = false;
      return;
    }
    if (looks_[index].promise != Promise::Open) return;
    const std::uint64_t seed = hash_combine(options_.seed, tests_[index].id.value);
    auto seen = watch_controlled(*program, portfolio_plan(plan, seed, known.points, round), seconds,
                                 options_.interrupt);
    if (!seen) return;
    Promise promise = promise_of(seen->result.execution, true, options_);
    if (promise == Promise::Open && seen->failed && !known.failed) promise = Promise::Failure;
    if (promise <= Promise::Failure) keep(index, promise, true, as_watched(std::move(*seen)));
  }

  const std::vector<TestCase>& tests_;
  const std::vector<double>& recorded_;
  const TestCheckOptions& options_;
  const double seconds_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<FirstLook> looks_;
  std::vector<Controlled> controlled_;
  std::vector<std::size_t> quickest_;
  std::atomic<bool> promising_ = false;
  ControlledLooks pays_;
};

}  // namespace

std::vector<FirstLook> first_looks(const std::vector<TestCase>& tests, const std::vector<double>& recorded,
                                   const TestCheckOptions& options, double seconds, unsigned jobs) {
  return Looking(tests, recorded, options, seconds).run(jobs);
}

std::vector<std::size_t> by_promise(const std::vector<FirstLook>& looks) {
  std::vector<std::size_t> order = indexes(looks.size());
  const auto rank = [&](std::size_t index) {
    const FirstLook& look = looks[index];
    if (look.promise <= Promise::Failure) return look.ended ? 0 : 1;
    return look.promise == Promise::Alone ? 3 : 2;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  return order;
}

}  // namespace simrt::pipeline
