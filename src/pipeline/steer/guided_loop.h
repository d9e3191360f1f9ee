// Executions of one program, chosen by a strategy that learns from each of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/execution/test_program.h"
#include "pipeline/steer/knowledge.h"
#include "pipeline/steer/steering.h"

namespace simrt::pipeline {

struct GuidedOptions {
  std::string strategy = "auto";
  std::uint64_t seed = 1;
  std::uint64_t executions = 0;               ///< budget, for the portfolio to share out; 0 = none
  std::uint64_t short_sleep_ns = 10'000'000;  ///< sleeps of up to that order nothing: they only give way
  /// Places of the impacted accesses: files to lines.
  std::map<std::string, std::vector<std::uint32_t>> impacted;
};

/// An execution with the plan that it was made under.
struct GuidedStep {
  testing::CheckPlan plan;
  Observed seen;
};

/// Not thread-safe; `symbols` must live as long.
class GuidedLoop {
 public:
  /// Errors: Usage (no such strategy).
  static Result<std::unique_ptr<GuidedLoop>> create(Execute execute, Symbols& symbols, GuidedOptions options);

  /// The next execution, learned from; nothing when the strategy has nothing left. The events are in it.
  /// Errors: those of `execute`.
  Result<std::optional<GuidedStep>> next();

  std::uint64_t executions() const { return executions_; }
  const Steering& steering() const { return *steering_; }
  Knowledge& knowledge() { return *knowledge_; }
  /// For whoever keeps what was learned; the loop is over then.
  std::unique_ptr<RecordedSites> take_sites() { return std::move(sites_); }
  std::unique_ptr<Knowledge> take_knowledge() { return std::move(knowledge_); }

 private:
  GuidedLoop(Execute execute, Symbols& symbols, GuidedOptions options);
  testing::CheckPlan complete(const Proposal& proposal) const;
  void learn(const testing::CheckPlan& plan, const Observed& seen);

  Execute execute_;
  GuidedOptions options_;
  std::unique_ptr<RecordedSites> sites_;
  std::unique_ptr<Knowledge> knowledge_;
  std::unique_ptr<Steering> steering_;
  std::uint64_t executions_ = 0;
};

}  // namespace simrt::pipeline
