#include "pipeline/check/first_look.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <utility>

#include "pipeline/check/candidate_order.h"
#include "support/progress.h"
#include "support/task_pool.h"

namespace simrt::pipeline {
namespace {

constexpr double kMostSeconds = 3;  // of one look
// While no look has shown a race, looking at others is worth more than driving a test that showed none: then
// looks take so many times as long in all.
constexpr double kLonger = 2.4;

Promise promise_of(const WatchedRun& run, const TestCheckOptions& options) {
  const testing::Execution& execution = run.execution;
  for (Candidate& candidate : candidates_of(execution, *options.symbols)) {
    if (!candidate.witnessed || candidate.weak || candidate.finding.kind != FindingKind::Race ||
        options.settled(candidate.fingerprint) || !options.scope->covers(candidate.finding))
      continue;
    candidate.finding.cause = options.scope->cause(candidate.finding);
    if (!options.scope->restricted() || is_impacted_race(candidate)) return Promise::Race;
  }
  const bool one_thread = std::max<std::size_t>(execution.thread_count, execution.threads.size()) < 2;
  return one_thread && !run.cut ? Promise::Alone : Promise::Open;
}

/// For `seconds` at most. Errors: as check_test.
Result<FirstLook> first_look(const TestCase& test, const TestCheckOptions& options, double seconds) {
  auto program = TestProgram::create(test, {seconds, false});
  if (!program) return fail(program.error());
  auto seen =
      options.detector->watch({&test, &*program, watching_plan(test, options), seconds, options.interrupt});
  if (!seen) return fail(seen.error());
  FirstLook look;
  if (!seen->took_part) return look;
  look.promise = promise_of(*seen, options);
  look.run = std::move(*seen);
  return look;
}

std::vector<std::size_t> indexes(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace

std::vector<FirstLook> first_looks(const std::vector<TestCase>& tests, const std::vector<double>& recorded,
                                   const TestCheckOptions& options, double seconds, unsigned jobs) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<FirstLook> looks(tests.size());
  std::vector<std::size_t> quickest = indexes(tests.size());
  std::stable_sort(quickest.begin(), quickest.end(),
                   [&](std::size_t a, std::size_t b) { return recorded[a] < recorded[b]; });
  Progress progress("first look", tests.size());
  std::atomic<bool> promising = false;
  run_tasks(
      tests.size(), jobs,
      [&](std::size_t number) {
        const std::size_t index = quickest[number];
        const double left = seconds * (promising ? 1 : kLonger) -
                            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (left <= 0) return;
        // A test that cannot be run is told of when it is checked.
        if (auto look = first_look(tests[index], options, std::min(left, kMostSeconds))) {
          if (look->promise == Promise::Race) promising = true;
          looks[index] = std::move(*look);
        }
        progress.advance(tests[index].name);
      },
      options.interrupt);
  progress.finish();
  return looks;
}

std::vector<std::size_t> by_promise(const std::vector<FirstLook>& looks) {
  std::vector<std::size_t> order = indexes(looks.size());
  const auto rank = [&](std::size_t index) {
    const FirstLook& look = looks[index];
    if (look.promise == Promise::Race) return look.run && look.run->cut ? 1 : 0;
    return look.promise == Promise::Alone ? 3 : 2;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  return order;
}

}  // namespace simrt::pipeline
