#include "schedule/predict.h"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>

#include "schedule/occurrences.h"

namespace simrt::schedule {
namespace {

bool fits(const Occurrence& occurrence, AccessMode mode) {
  return mode == AccessMode::Read ? reads_memory(occurrence.kind) : writes_memory(occurrence.kind);
}

/// All ways to bring about one pattern on one or two variables of one execution.
class Enumeration {
 public:
  using Found = std::map<PatternInstance, std::vector<TargetStep>>;

  Enumeration(const Execution& execution, const Occurrences& occurrences, PredictionLimits limits,
              Found& found)
      : execution_(execution), occurrences_(occurrences), limits_(limits), found_(found) {}

  void run(PatternNumber pattern, VariableNumber x, VariableNumber y) {
    steps_ = steps_of(pattern);
    pattern_ = pattern;
    variables_ = {x, y};
    extend(0);
  }
  bool cut() const { return cut_; }

 private:
  bool can_follow(std::size_t step, const Occurrence& next) const {
    for (std::size_t i = 0; i < step; ++i) {
      const Occurrence& before = *chosen_[i];
      const bool same = steps_[i].thread == steps_[step].thread;
      if (same != (before.thread == next.thread)) return false;
      if (same && before.event >= next.event) return false;
      if (!same && occurrences_.must_precede(next, before)) return false;
    }
    for (std::size_t i = 0; i < step; ++i)
      for (std::size_t j = i + 1; j < step; ++j)
        if (steps_[i].thread == steps_[step].thread && steps_[j].thread != steps_[i].thread &&
            occurrences_.locked_out(*chosen_[i], *chosen_[j], next))
          return false;
    return true;
  }

  void extend(std::size_t step) {
    if (step == steps_.size()) return keep();
    for (const Occurrence& next : occurrences_.of(variables_[steps_[step].variable])) {
      if (looked_at_ >= limits_.combinations) {
        cut_ = true;
        return;
      }
      ++looked_at_;
      if (!fits(next, steps_[step].mode) || !can_follow(step, next)) continue;
      chosen_[step] = &next;
      extend(step + 1);
    }
  }

  void keep() {
    PatternInstance instance;
    instance.pattern = pattern_;
    for (std::size_t i = 0; i < steps_.size(); ++i) instance.sites[i] = chosen_[i]->site;
    if (found_.contains(instance)) return;
    if (found_.size() >= limits_.instances) {
      cut_ = true;
      return;
    }
    std::vector<TargetStep>& target = found_[instance];
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Occurrence& from = *chosen_[i];
      const RoleId role =
          from.thread < execution_.threads.size() ? execution_.threads[from.thread].role : RoleId{};
      target.push_back({from.site, from.kind, steps_[i].thread, steps_[i].variable, role, from.thread});
    }
  }

  const Execution& execution_;
  const Occurrences& occurrences_;
  PredictionLimits limits_;
  Found& found_;
  std::span<const PatternStep> steps_;
  PatternNumber pattern_ = 0;
  std::array<VariableNumber, 2> variables_{};
  std::array<const Occurrence*, 4> chosen_{};
  std::uint64_t looked_at_ = 0;
  bool cut_ = false;
};

}  // namespace

void Predictor::add(const Execution& execution) {
  const Occurrences occurrences(execution);
  const std::vector<VariableNumber> some = occurrences.representatives();
  Enumeration enumeration(execution, occurrences, limits_, feasible_);
  for (PatternNumber pattern = 1; pattern <= 8; ++pattern)
    for (const VariableNumber x : some) enumeration.run(pattern, x, x);
  for (PatternNumber pattern = 9; pattern <= kPatternCount; ++pattern)
    for (const VariableNumber x : some)
      for (const VariableNumber y : some)
        if (x != y) enumeration.run(pattern, x, y);
  cut_ |= enumeration.cut();
}

std::vector<Target> Predictor::targets(const PatternCoverage& covered,
                                       const std::unordered_set<SiteId>& impacted) const {
  std::vector<Target> all;
  for (const auto& [instance, steps] : feasible_)
    if (!covered.contains(instance)) all.push_back({instance, steps, is_impacted(instance, impacted)});
  const auto rank = [](const Target& target) {
    return std::tuple(target.impacted ? 0 : 1, urgency_of(target.instance.pattern));
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Target& a, const Target& b) { return rank(a) < rank(b); });
  return all;
}

}  // namespace simrt::schedule
