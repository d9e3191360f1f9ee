#include "schedule/patterns/coverage.h"

#include <algorithm>

namespace simrt::schedule {

std::size_t PatternCoverage::add(const std::unordered_set<PatternInstance>& instances) {
  const std::size_t before = instances_.size();
  instances_.insert(instances.begin(), instances.end());
  return instances_.size() - before;
}

std::size_t PatternCoverage::add(const Recognised& recognised) {
  cut_ |= recognised.cut;
  return add(recognised.instances);
}

std::size_t PatternCoverage::merge(const PatternCoverage& other) {
  cut_ |= other.cut_;
  return add(other.instances_);
}

bool is_impacted(const PatternInstance& instance, const std::unordered_set<SiteId>& sites) {
  return std::ranges::any_of(instance.used(), [&](SiteId site) { return sites.contains(site); });
}

PatternCoverage PatternCoverage::impacted(const std::unordered_set<SiteId>& sites) const {
  PatternCoverage part;
  part.cut_ = cut_;
  for (const PatternInstance& each : instances_)
    if (is_impacted(each, sites)) part.instances_.insert(each);
  return part;
}

PatternCoverage PatternCoverage::within(const std::unordered_set<SiteId>& sites) const {
  PatternCoverage part;
  part.cut_ = cut_;
  for (const PatternInstance& each : instances_)
    if (std::ranges::all_of(each.used(), [&](SiteId site) { return sites.contains(site); }))
      part.instances_.insert(each);
  return part;
}

void PatternCoverage::forget(const std::unordered_set<SiteId>& sites) {
  std::erase_if(instances_, [&](const PatternInstance& each) { return is_impacted(each, sites); });
}

std::vector<PatternInstance> PatternCoverage::sorted() const {
  std::vector<PatternInstance> all(instances_.begin(), instances_.end());
  std::sort(all.begin(), all.end());
  return all;
}

void MethodPairCoverage::add(const Execution& execution, const std::map<SiteId, FunctionId>& method_of) {
  // What each thread is in: the method of its latest event. A pair ran concurrently when a thread made a step
  // in one method while another thread's previous and next step are in the other.
  std::vector<std::vector<FunctionId>> after(execution.threads.size());
  const auto method = [&](const ExecutionEvent& event) {
    const auto at = method_of.find(event.site);
    return at == method_of.end() ? FunctionId{} : at->second;
  };
  for (const ExecutionEvent& event : execution.events) after[event.thread].push_back(method(event));
  std::vector<std::size_t> made(execution.threads.size(), 0);
  std::set<Pair> seen;
  for (const ExecutionEvent& event : execution.events) {
    const FunctionId mine = method(event);
    ++made[event.thread];
    if (!mine) continue;
    for (ThreadIndex other = 0; other < after.size(); ++other) {
      if (other == event.thread || made[other] == 0 || made[other] == after[other].size()) continue;
      const FunctionId theirs = after[other][made[other] - 1];
      if (theirs && theirs == after[other][made[other]]) seen.insert(std::minmax(mine, theirs));
    }
  }
  for (const Pair& pair : seen) ++pairs_[pair];
}

void MethodPairCoverage::merge(const MethodPairCoverage& other) {
  for (const auto& [pair, count] : other.pairs_) pairs_[pair] += count;
}

}  // namespace simrt::schedule
