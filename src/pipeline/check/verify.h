// Drives a potential finding into a real execution, and shortens the schedule that shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/check/describe.h"
#include "pipeline/check/test_program.h"
#include "pipeline/check/witness.h"

namespace simrt::pipeline {

struct VerifyOptions {
  std::uint64_t seed = 1;
  unsigned tries = 12;          ///< executions of each order, or of a sequence, until it is given up
  unsigned shorten_tries = 60;  ///< executions spent on a shorter schedule
  testing::CheckPlan base;      ///< watched sites and limits
};

struct Verified {
  Finding finding;
  std::uint64_t fingerprint = 0;
  testing::CheckPlan plan;  ///< follows the witness' schedule
  std::uint64_t switches = 0;
  std::string ending;
};

class Verifier {
 public:
  Verifier(TestProgram& program, Symbols& symbols, VerifyOptions options, const InterruptToken* interrupt)
      : program_(program), symbols_(symbols), options_(std::move(options)), interrupt_(interrupt) {}

  /// How the test ends without a strategy's help; ends that are like it prove no harm.
  void set_usual(const Observed& usual) { usual_ = usual.ending; }
  /// Executions that pass many more scheduling points than usual end there.
  void set_limit(std::uint64_t points) { options_.base.max_points = points; }

  /// Nothing when no execution within the bounds showed it. Errors: Execution, Interrupted.
  Result<std::optional<Verified>> verify(const Candidate& candidate);

  /// A failing execution: its finding, with a short schedule. Nothing when following its schedule does not
  /// fail the same way. Errors: Execution, Interrupted.
  Result<std::optional<Verified>> explain(const testing::CheckPlan& plan, const Observed& failed);

 private:
  Result<std::optional<Verified>> race(const Candidate& candidate);
  Result<std::optional<Verified>> sequence(const Candidate& candidate);
  bool harmful(const Observed& seen) const { return seen.failed && seen.ending != usual_; }
  Status keep_short(Verified& verified, std::uint64_t switches,
                    const std::function<bool(const Observed&)>& same);
  Status add_interleaving(Verified& verified);
  Result<std::optional<Finding>> cause_of(const testing::CheckPlan& plan, Observed failed);

  TestProgram& program_;
  Symbols& symbols_;
  VerifyOptions options_;
  const InterruptToken* interrupt_;
  std::string usual_ = "passed";
};

/// A race of the two sites that this very execution showed.
bool shows_race(const testing::Execution& execution, const std::vector<testing::CheckModule>& modules,
                const testing::CheckPair& pair);

}  // namespace simrt::pipeline
