#include "pipeline/steer/knowledge.h"

#include <algorithm>
#include <set>

#include "schedule/patterns/recognise.h"
#include "schedule/patterns/shared_variables.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

// Behind so many executions only every so manieth is looked at for what it covers: that costs as much as the
// execution, and hardly any of them covers something new.
constexpr std::uint64_t kAllLookedAt = 1000, kLookedAtEvery = 4;
constexpr std::uint64_t kMethodPairSteps = 20'000'000;  // events x threads; longer executions are left out

}  // namespace

void Knowledge::remember(const schedule::PatternCoverage& covered, const schedule::HapSets& orders) {
  remembered_.merge(covered);
  remembered_orders_.merge(orders);
  covered_.merge(covered);
  orders_.merge(orders);
}

void Knowledge::set_impacted(std::unordered_set<SiteId> sites) {
  if (sites == impacted_) return;
  impacted_ = std::move(sites);
  if (remembered_.size() == 0 && remembered_orders_.size() == 0) return;
  remembered_.forget(impacted_);
  remembered_orders_.forget(impacted_);
  covered_ = remembered_;
  covered_.merge(fresh_);
  orders_ = remembered_orders_;
  orders_.merge(fresh_orders_);
}

void Knowledge::note_sharing(const Execution& execution) {
  const schedule::SharedVariables shared(execution);
  for (std::size_t i = 0; i < execution.events.size(); ++i) {
    const ExecutionEvent& event = execution.events[i];
    if (!is_memory(event.kind)) continue;
    if (!shared.touched_by(i).empty()) {
      shared_sites_.insert(event.site);
    } else if (event.kind == EventKind::Read || event.kind == EventKind::Write) {
      plain_sites_.insert(event.site);
    }
  }
}

void Knowledge::note_order(const Execution& execution, const Observed& seen) {
  std::map<std::uint64_t, std::uint64_t> waiting;
  std::vector<bool> ended(execution.threads.size(), false);
  bool ambiguous = false;
  for (const ExecutionEvent& event : execution.events) {
    if (event.kind == EventKind::Wait) ++waiting[event.object];
    if (event.kind == EventKind::Woken || event.kind == EventKind::TimedOut) {
      auto& count = waiting[event.object];
      count -= count > 0 ? 1 : 0;
    }
    ambiguous |= event.kind == EventKind::Notify && waiting[event.object] > 1;
    if (event.kind == EventKind::End) ended[event.thread] = true;
  }
  ambiguous_notifications_ += ambiguous ? 1 : 0;
  const auto alive = std::count(ended.begin() + (ended.empty() ? 0 : 1), ended.end(), false);
  ended_early_ += alive > 0 && execution.pending.empty() ? 1 : 0;
  uncontrolled_ += seen.result.execution.uncontrolled != 0 ? 1 : 0;
}

Learned Knowledge::learn(const Execution& converted, const Observed& seen, const RecordedSites& sites,
                         bool aimed) {
  Learned learned;
  ++executions_;
  if (!seen.cut && (!aimed || points_ == 0)) points_ = std::max(points_, seen.result.execution.points);
  threads_ = std::max(threads_, seen.result.execution.thread_count);
  note_sharing(converted);
  note_order(converted, seen);
  // By a hash: the portfolio takes turns, and a period would fall in with one of them. What was aimed at
  // counts.
  const bool sampled = hash_combine(executions_, 0) % kLookedAtEvery == 0;
  learned.looked_at = executions_ <= kAllLookedAt || aimed || sampled;
  if (!learned.looked_at) return learned;
  const schedule::Recognised recognised = schedule::recognise(converted);
  fresh_.add(recognised);
  learned.new_instances = covered_.add(recognised);
  saturation_.add(recognised.instances);
  accesses_.add(converted);
  // What the predictor makes of an execution depends on who touched what where and under which locks: one
  // without new coverage and new sites hardly tells it anything, and it is expensive.
  if (learned.new_instances > 0 || shared_sites_.size() != predicted_accesses_ || executions_ <= 2) {
    predicted_accesses_ = shared_sites_.size();
    predictor_.add(converted);
    ++predictor_version_;
  }
  if (remembered_orders_.size() > 0) fresh_orders_.learn(converted);
  learned.new_orders = orders_.learn(converted);
  if (converted.events.size() * converted.threads.size() <= kMethodPairSteps)
    method_pairs_.add(converted, sites.methods());
  return learned;
}

std::uint64_t Knowledge::feasible() const {
  std::uint64_t unpredicted = 0;
  for (const schedule::PatternInstance& instance : covered_.sorted())
    unpredicted += predictor_.is_feasible(instance) ? 0 : 1;
  return predictor_.feasible() + unpredicted;
}

std::vector<testing::CheckSite> Knowledge::private_hooks(const RecordedSites& sites) const {
  // A place of a library's code may stand for several sites, some of them shared.
  std::set<testing::CheckSite> shared;
  for (const SiteId site : shared_sites_)
    for (const EventKind kind : {EventKind::Read, EventKind::Write})
      for (const Hook& hook : sites.hooks_of(site, kind)) shared.insert(hook.site);
  std::vector<testing::CheckSite> hooks;
  for (const SiteId site : plain_sites_) {
    if (shared_sites_.contains(site)) continue;
    for (const EventKind kind : {EventKind::Read, EventKind::Write})
      for (const Hook& hook : sites.hooks_of(site, kind))
        if (!shared.contains(hook.site)) hooks.push_back(hook.site);
  }
  std::sort(hooks.begin(), hooks.end());
  hooks.erase(std::unique(hooks.begin(), hooks.end()), hooks.end());
  return hooks;
}

}  // namespace simrt::pipeline
