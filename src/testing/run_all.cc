// See run_all.h. Workers run tests; the calling thread alone talks to the caller.
#include "testing/run_all.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "support/task_pool.h"
#include "testing/schedule.h"

namespace simrt::testing {
namespace {

struct Ended {
  std::size_t test = 0;
  Result<RunResult> result;
};

class Crew {
 public:
  Crew(const std::vector<TestCase>& tests, const RunAllOptions& options, unsigned jobs,
       const InterruptToken* interrupt)
      : tests_(tests), options_(options), interrupt_(interrupt), schedule_(tests, jobs) {}

  /// Body of a worker thread.
  void work();
  /// The next result in the order of ending; nothing when no further one will come.
  std::optional<Ended> wait_for_result();
  /// No further test starts.
  void stop();

 private:
  bool stopping() const { return stopped_ || (interrupt_ != nullptr && interrupt_->requested()); }
  /// The test to run next; nothing when there is no more work.
  std::optional<std::size_t> next_test(std::unique_lock<std::mutex>& lock,
                                       std::optional<std::string>& broken);

  const std::vector<TestCase>& tests_;
  const RunAllOptions& options_;
  const InterruptToken* interrupt_;
  std::mutex mutex_;
  std::condition_variable changed_;
  RunSchedule schedule_;
  std::deque<Ended> ended_;
  bool stopped_ = false;
};

RunResult without_fixture(const TestCase& test, const std::string& fixture) {
  RunResult result;
  result.test = test.id;
  result.notes.push_back(fmt::format("the set-up of its fixture {} did not pass", fixture));
  return result;
}

std::optional<std::size_t> Crew::next_test(std::unique_lock<std::mutex>& lock,
                                           std::optional<std::string>& broken) {
  for (;;) {
    if (stopping() || schedule_.waiting() == 0) return std::nullopt;
    if (const auto test = schedule_.start_next()) {
      broken = schedule_.broken_fixture(*test);
      return test;
    }
    changed_.wait(lock);
  }
}

void Crew::work() {
  std::unique_lock lock(mutex_);
  std::optional<std::string> broken;
  while (const auto test = next_test(lock, broken)) {
    lock.unlock();
    Result<RunResult> result = broken ? Result<RunResult>(without_fixture(tests_[*test], *broken))
                                      : run_test(tests_[*test], options_.run, interrupt_);
    lock.lock();
    schedule_.finish(*test, result && result->outcome == Outcome::Passed);
    ended_.push_back({*test, std::move(result)});
    changed_.notify_all();
  }
  changed_.notify_all();  // an interrupt is seen by whoever returns from a test first
}

std::optional<Ended> Crew::wait_for_result() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return !ended_.empty() || (schedule_.running() == 0 && (schedule_.waiting() == 0 || stopping()));
  });
  if (ended_.empty()) return std::nullopt;
  Ended next = std::move(ended_.front());
  ended_.pop_front();
  return next;
}

void Crew::stop() {
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

}  // namespace

Status run_all(const std::vector<TestCase>& tests, const RunAllOptions& options, const RunFinished& finished,
               const InterruptToken* interrupt) {
  const unsigned jobs = options.jobs == 0 ? available_processors() : options.jobs;
  Crew crew(tests, options, jobs, interrupt);
  Status outcome;
  std::vector<std::jthread> workers;
  for (std::size_t i = 0; i < std::min<std::size_t>(jobs, tests.size()); ++i) {
    workers.emplace_back([&crew] { crew.work(); });
  }
  while (const auto ended = crew.wait_for_result()) {
    const TestCase& test = tests[ended->test];
    if (options.progress != nullptr) {
      const bool known = ended->test < options.expected_seconds.size();
      options.progress->advance(test.name, known ? options.expected_seconds[ended->test] : 0);
    }
    if (!outcome) continue;  // what still ran when the caller failed is not reported
    outcome = finished(test, ended->result);
    if (!outcome) crew.stop();
  }
  workers.clear();  // joins
  if (outcome && interrupt != nullptr && interrupt->requested()) {
    return fail(ErrorCode::Interrupted, "interrupted; finished tests are kept");
  }
  return outcome;
}

std::vector<std::size_t> with_fixtures(const std::vector<TestCase>& tests,
                                       const std::vector<std::size_t>& chosen) {
  std::set<std::size_t> included(chosen.begin(), chosen.end());
  std::set<std::string> fixtures;
  for (bool grown = true; grown;) {
    grown = false;
    for (const std::size_t i : included) {
      for (const std::string& fixture : tests[i].rules.fixtures_required)
        grown |= fixtures.insert(fixture).second;
    }
    for (std::size_t i = 0; i < tests.size(); ++i) {
      const auto serves = [&](const std::vector<std::string>& names) {
        return std::any_of(names.begin(), names.end(),
                           [&](const std::string& name) { return fixtures.contains(name); });
      };
      if (serves(tests[i].rules.fixtures_setup) || serves(tests[i].rules.fixtures_cleanup)) {
        grown |= included.insert(i).second;
      }
    }
  }
  return {included.begin(), included.end()};
}

}  // namespace simrt::testing
