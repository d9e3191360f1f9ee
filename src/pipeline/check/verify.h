// Drives a potential finding into a real execution, and shortens the schedule that shows it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "pipeline/check/describe.h"
#include "pipeline/check/witness.h"
#include "pipeline/execution/test_program.h"

namespace simrt::pipeline {

struct VerifyOptions {
  std::uint64_t seed = 1;
  unsigned tries = 12;          ///< executions of each order, or of a sequence, until it is given up
  unsigned shorten_tries = 60;  ///< executions spent on a shorter schedule
  std::uint64_t length = 0;     ///< scheduling points of a usual execution
  std::uint64_t synchronization_points = 0;  ///< those that are no plain access; 0: unknown
  testing::CheckPlan base;                   ///< watched sites and limits
};

struct Verified {
  Finding finding;
  std::uint64_t fingerprint = 0;
  testing::CheckPlan plan;  ///< follows the witness' schedule
  std::uint64_t switches = 0;
  std::string ending;
};

/// What is left of the time for one finding, as a part of it: 1 at the start, 0 or less when it is used up.
using TimeLeft = std::function<double()>;

/// Not thread-safe.
class Verifier {
 public:
  Verifier(Execute execute, Symbols& symbols, VerifyOptions options)
      : execute_(std::move(execute)), symbols_(symbols), options_(std::move(options)) {}

  /// How the test ends without a strategy's help; ends that are like it prove no harm.
  void set_usual(const Observed& usual) { usual_ = usual.ending; }
  /// No execution has ended in another way than those that failed.
  void set_no_other() { usual_.clear(); }
  /// Scheduling points of a usual execution; executions that pass many more of them end at `limit`.
  void set_points(std::uint64_t usual, std::uint64_t limit) {
    options_.length = usual;
    options_.base.max_points = limit;
  }
  /// Executions that are slow for the time there is end where a race is proven, as long as it is not. Where
  /// the test does not end within its limits, how the two orders end is not compared.
  enum class Pace : std::uint8_t { Quick, Slow, Endless };
  void set_pace(Pace pace) { pace_ = pace; }
  /// Of a usual execution in which plain accesses are no scheduling points.
  void set_synchronization_points(std::uint64_t points) { options_.synchronization_points = points; }

  /// For what is asked from here on. A proof is kept however little is left: it is shortened and explained as
  /// far as the time goes, and needs two executions more at most.
  void set_time(TimeLeft left) {
    left_ = std::move(left);
    cut_ = false;
  }
  /// Whether the time ended the last question before its tries were used up.
  bool cut() const { return cut_; }

  /// Aims at many races at once: hundreds of hints may stand for a few that can happen. Those that an
  /// execution shows get it as Candidate::shown_by, the others are marked as missed. Errors: Execution,
  /// Interrupted.
  Status survey(std::span<Candidate* const> races);

  /// Nothing when no execution within the bounds showed it. Errors: Execution, Interrupted.
  Result<std::optional<Verified>> verify(const Candidate& candidate);

  /// A failing execution: its finding, with a short schedule. Nothing when following its schedule does not
  /// fail the same way. Errors: Execution, Interrupted.
  Result<std::optional<Verified>> explain(const testing::CheckPlan& plan, const Observed& failed);

 private:
  struct Shown {
    testing::CheckPlan plan;
    Observed seen;
  };
  /// What is known of a race while it is verified.
  struct Race {
    std::optional<Shown> met;        // both threads before the memory at once
    std::optional<Shown> unordered;  // nothing ordered the accesses
    std::optional<Shown> harm;
    std::set<std::string> outputs[2];  // by order
  };
  Result<std::optional<Verified>> race(const Candidate& candidate);
  testing::CheckPlan pair_plan(std::span<const Candidate* const> races, unsigned attempt) const;
  Status follow_shown(const Candidate& candidate, Race& race);
  Status meet(const Candidate& candidate, Race& race);
  Status chance(const Candidate& candidate, Race& race);
  bool over(double kept = 0) {
    if (!left_ || left_() > kept) return false;
    cut_ = true;
    return true;
  }
  Result<std::optional<Verified>> sequence(const Candidate& candidate);
  std::string difference(const char* which, const std::string& ending) const;
  bool harmful(const Observed& seen) const { return seen.failed && seen.ending != usual_; }
  Status keep_short(Verified& verified, std::uint64_t switches,
                    const std::function<bool(const Observed&)>& same);
  Result<Observed> with_events(const testing::CheckPlan& plan);
  Status add_interleaving(Verified& verified);
  struct Cause {
    Finding finding;
    std::optional<Candidate> race;  // that may stand behind it
  };
  Result<std::optional<Cause>> cause_of(const testing::CheckPlan& plan, Observed failed);

  Execute execute_;
  Symbols& symbols_;
  VerifyOptions options_;
  TimeLeft left_;
  Pace pace_ = Pace::Quick;
  bool cut_ = false;
  std::string usual_ = "passed";  // empty: nothing but failures was seen
};

/// A race of the two sites that this very execution showed.
bool shows_race(const testing::Execution& execution, const std::vector<testing::CheckModule>& modules,
                const testing::CheckPair& pair);

}  // namespace simrt::pipeline
