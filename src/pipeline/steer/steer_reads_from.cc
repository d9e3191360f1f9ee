// Constraints on what reads see, as in RFF (Wolff et al., ASPLOS 2024). Its authors' data show that the
// constraints do the work, not the greybox feedback: sets of a few are drawn anew for each execution, from
// all pairs of a write and a read of one variable, the least tried first.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "pipeline/steer/steering.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

constexpr std::size_t kMostConstraints = 4;  // of one execution

struct Constraint {
  SiteId write, read;
  bool sees = true;  ///< the read sees the write's value; else a value from before it
  auto operator<=>(const Constraint&) const = default;
};

class ReadsFromDirected final : public Steering {
 public:
  explicit ReadsFromDirected(const SteeringOptions& options) : options_(options), random_(options.seed) {}

  std::optional<Proposal> next() override {
    Proposal proposal;
    proposal.plan.seed = hash_combine(options_.seed, ++number_);
    proposal.plan.strategy = format::StrategyKind::Pos;
    refresh();
    if (pool_.empty()) return proposal;
    proposal.plan.strategy = format::StrategyKind::ReadsFrom;
    proposal.plan.length = options_.knowledge->points();
    proposal.plan.hold = options_.knowledge->points() + 1000;
    std::set<SiteId> taken;
    for (const Constraint& constraint : draw()) {
      if (!taken.insert(constraint.read).second) continue;  // one thing at a time of each read
      add(proposal.plan, constraint);
    }
    proposal.aim = fmt::format("{} constraints", proposal.plan.pairs.size());
    return proposal;
  }

  void learn(const Execution&, const Observed& seen, const Learned&) override {
    met_ += (seen.result.execution.flags & format::kRunSequenceDone) != 0 ? 1 : 0;
  }

  SteeringReport report() const override {
    SteeringReport report;
    report.lines.push_back(
        fmt::format("{} constraints on what reads see; all of an execution's were met or over {} "
                    "times",
                    pool_.size(), met_));
    return report;
  }

 private:
  std::uint64_t below(std::uint64_t count) {
    random_ = hash_combine(random_, count + 1);
    return random_ % count;
  }

  void refresh() {
    if (version_ == options_.knowledge->predictor_version()) return;
    version_ = options_.knowledge->predictor_version();
    std::set<Constraint> known(pool_.begin(), pool_.end());
    for (const auto& variable : options_.knowledge->accesses().variables())
      for (const SiteId write : variable.writers)
        for (const SiteId read : variable.readers)
          for (const bool sees : {true, false})
            if (known.insert({write, read, sees}).second) pool_.push_back({write, read, sees});
  }

  /// One that was tried least, and others by chance.
  std::vector<Constraint> draw() {
    std::uint64_t least = UINT64_MAX;
    for (const Constraint& each : pool_) least = std::min(least, tries_[each]);
    std::vector<Constraint> chosen;
    const std::uint64_t start = below(pool_.size());
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      const Constraint& each = pool_[(start + i) % pool_.size()];
      if (tries_[each] != least) continue;
      chosen.push_back(each);
      break;
    }
    while (chosen.size() < kMostConstraints && below(2) == 1) chosen.push_back(pool_[below(pool_.size())]);
    for (const Constraint& each : chosen) ++tries_[each];
    return chosen;
  }

  /// Of every hook of the sites: one place in the source may be several in the binary.
  void add(testing::CheckPlan& plan, const Constraint& constraint) const {
    for (const EventKind write : {EventKind::Write, EventKind::AtomicStore, EventKind::AtomicUpdate})
      for (const EventKind read :
           {EventKind::Read, EventKind::AtomicLoad, EventKind::AtomicUpdate, EventKind::AtomicFailed})
        for (const auto& first : options_.sites->hooks_of(constraint.write, write))
          for (const auto& second : options_.sites->hooks_of(constraint.read, read))
            if (plan.pairs.size() < 64)
              plan.pairs.push_back({first.site, second.site, constraint.sees, first.calls, second.calls});
  }

  SteeringOptions options_;
  std::vector<Constraint> pool_;
  std::map<Constraint, std::uint64_t> tries_;
  std::uint64_t random_, number_ = 0, version_ = 0, met_ = 0;
};

}  // namespace

SteeringResult steer_reads_from(const SteeringOptions& options) {
  return std::make_unique<ReadsFromDirected>(options);
}

}  // namespace simrt::pipeline
