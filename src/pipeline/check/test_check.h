// The course of one test's check, and what it knows on the way. Its parts: test_watching.cc (runs that are
// only watched), test_verification.cc (findings become witnesses), test_schedules.cc (other schedules).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pipeline/check/check_test.h"
#include "support/hash.h"

namespace simrt::pipeline {

inline constexpr std::uint32_t kCheckDetectors = format::kDetectRaces | format::kDetectPotentialRaces |
                                                 format::kDetectLockCycles | format::kDetectAtomicity;

/// One use: construct, run(), take(). Not thread-safe; errors as check_test.
class TestCheck {
 public:
  TestCheck(const TestCase& test, const TestCheckOptions& options, TestProgram& program)
      : test_(test),
        options_(options),
        program_(program),
        timeout_(options.timeout_seconds),
        verifier_([this](const testing::CheckPlan& plan) { return execute(plan); }, *options.symbols,
                  verify_options(options, base_)) {}

  Status run();
  TestCheckResult take() { return std::move(result_); }

 private:
  VerifyOptions verify_options(const TestCheckOptions& options, testing::CheckPlan& base) {
    base = watching_plan(test_, options, &why_all_);
    VerifyOptions verify;
    verify.seed = hash_combine(options.seed, test_.id.value);
    verify.tries = options.tries;
    verify.base = base;
    return verify;
  }

  bool interrupted() const { return options_.interrupt && options_.interrupt->requested(); }
  bool stop() {
    if (options_.seconds_left() > 0 && !interrupted()) return false;
    result_.complete = false;
    return true;
  }
  Result<Observed> execute(const testing::CheckPlan& plan);
  TimeLeft share(double parts) const;
  Status watch_free_run();
  void gather_free_run();
  Status verify_seen();
  Status watch_default_run();
  Status failing_by_default(const testing::CheckPlan& plan, const Observed& seen);
  Status look_for_lost_wakeups();
  Status survey();
  void leave_unproven(Candidate candidate);
  void leave_unfinished(Candidate& candidate);
  void accept(const Candidate& candidate, Verified verified);
  Status verify_candidates();
  Status try_schedules();
  Status try_guided();
  Status failure(const testing::CheckPlan& plan, const Observed& seen);
  /// `chosen_by`: the plan with the strategy that took the schedule which `plan` may only follow.
  void gather(const testing::Execution& execution, const testing::CheckPlan& plan,
              const testing::CheckPlan& chosen_by);
  Status look_into(const testing::CheckPlan& plan, const Observed& seen, bool watched);
  std::uint64_t seed() const { return hash_combine(options_.seed, test_.id.value); }
  void note(const std::string& text) {
    if (std::find(result_.notes.begin(), result_.notes.end(), text) == result_.notes.end())
      result_.notes.push_back(text);
  }

  const TestCase& test_;
  const TestCheckOptions& options_;
  TestProgram& program_;
  double timeout_;  // of one execution
  testing::CheckPlan base_;
  std::string why_all_;  // everything is watched
  Verifier verifier_;
  TestCheckResult result_;
  std::vector<Candidate> candidates_;  // not verified yet
  std::set<std::uint64_t> known_;      // fingerprints met in this test
  std::set<std::string> explained_;    // endings that a confirmed finding accounts for
  std::optional<testing::Execution> free_run_;
  std::string free_ending_, default_ending_;
  bool free_was_cut_ = false;
  bool controlled_ = true;
  bool explored_ = false;                                    // no schedules are to be tried any more
  FindingStatus seen_counts_as_ = FindingStatus::Potential;  // races of the free run
  std::uint32_t threads_ = 0;
  std::uint64_t points_ = 0;  // of the default execution
  double seconds_ = 0;
  unsigned deadlocks_ = 0;
  bool endless_ = false;  // it was cut at a limit
};

}  // namespace simrt::pipeline
