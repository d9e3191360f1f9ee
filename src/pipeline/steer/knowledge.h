// What is known of one program's interleavings: learned from every execution, whoever chose it, and from
// earlier revisions' histories.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

#include "pipeline/steer/recorded.h"
#include "schedule/hapset/hapset.h"
#include "schedule/patterns/coverage.h"
#include "schedule/predict.h"
#include "schedule/saturation.h"

namespace simrt::pipeline {

/// What one execution brought.
struct Learned {
  std::uint64_t new_instances = 0;  ///< pattern instances nobody had covered
  std::size_t new_orders = 0;       ///< predecessor pairs nobody had seen (good runs only)
  bool looked_at = true;            ///< false: of many executions one that was only counted
  bool every_access = false;        ///< every access of the execution was a scheduling point
  bool by_default = false;  ///< nobody chose anything in it: the first execution of every systematic search
};

class Knowledge {
 public:
  explicit Knowledge(schedule::SaturationRule rule) : saturation_(rule) {}

  /// `converted` is what the sites made of `seen`. `aimed`: threads were held in it.
  Learned learn(const Execution& converted, const Observed& seen, const RecordedSites& sites, bool aimed);

  /// Of earlier explorations of this test. Before the first execution.
  void remember(const schedule::PatternCoverage& covered, const schedule::HapSets& orders);
  /// Sites that the change touches, as far as they are known by now: what is remembered of them counts no
  /// more.
  void set_impacted(std::unordered_set<SiteId> sites);

  const schedule::PatternCoverage& covered() const { return covered_; }
  const schedule::AccessTable& accesses() const { return accesses_; }
  const schedule::Predictor& predictor() const { return predictor_; }
  /// Raised whenever the predictor may have learned something.
  std::uint64_t predictor_version() const { return predictor_version_; }
  /// Instances that are covered or predicted.
  std::uint64_t feasible() const;
  const schedule::HapSets& orders() const { return orders_; }
  /// Those of earlier explorations only.
  const schedule::HapSets& remembered_orders() const { return remembered_orders_; }
  const schedule::Saturation& saturation() const { return saturation_; }
  const schedule::MethodPairCoverage& method_pairs() const { return method_pairs_; }
  const std::unordered_set<SiteId>& impacted() const { return impacted_; }
  /// Covered instances that only earlier explorations covered.
  std::size_t remembered() const { return covered_.size() - fresh_.size(); }

  std::uint64_t executions() const { return executions_; }
  /// Longest execution that was not cut, in scheduling points. Aimed ones do not count: while a thread is
  /// held, others may wait in loops, and holds are as long as an execution.
  std::uint64_t points() const { return points_; }
  std::uint32_t threads() const { return threads_; }
  /// Hook sites whose plain accesses were seen and touched no memory that two threads share.
  std::vector<testing::CheckSite> private_hooks(const RecordedSites& sites) const;
  /// Moments at which a notification had several waiters to choose from.
  std::uint64_t ambiguous_notifications() const { return ambiguous_notifications_; }
  /// Executions that ended while threads were still at work, so that what these had yet to do is not known.
  std::uint64_t ended_early() const { return ended_early_; }
  std::uint64_t uncontrolled() const { return uncontrolled_; }

 private:
  void note_sharing(const Execution& execution);
  void note_order(const Execution& execution, const Observed& seen);

  schedule::PatternCoverage covered_, fresh_, remembered_;  // all; by this exploration; by earlier ones
  schedule::AccessTable accesses_;
  schedule::Predictor predictor_;
  schedule::HapSets orders_, fresh_orders_, remembered_orders_;
  schedule::Saturation saturation_;
  schedule::MethodPairCoverage method_pairs_;
  std::unordered_set<SiteId> impacted_, shared_sites_, plain_sites_;
  std::uint64_t predictor_version_ = 0, executions_ = 0, points_ = 0;
  std::uint64_t ambiguous_notifications_ = 0, ended_early_ = 0, uncontrolled_ = 0;
  std::uint32_t threads_ = 0;
  std::size_t predicted_accesses_ = 0;
};

}  // namespace simrt::pipeline
