#include "impact/lock_order.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "support/hash.h"

namespace simrt::impact {
namespace {

constexpr int kCallDepth = 3;  ///< levels of calls behind which a lock is still seen to be taken
constexpr std::size_t kMaxTakenBelow =
    32;  ///< locks that a function takes by its calls; generated code has more

/// `to` is taken at the event while `from` is held.
struct Edge {
  std::uint32_t event;
  VariableId from, to;
  auto operator<=>(const Edge&) const = default;
};

bool takes(const LockTouch& touch) {
  return !touch.lent && (touch.action == LockAction::Acquire || touch.action == LockAction::GuardBind ||
                         touch.action == LockAction::GuardAcquire);
}

template <class T>
void sort_unique(std::vector<T>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

/// Edges of one version, by function. A lock that only a parameter names is nobody's.
class Edges {
 public:
  Edges(const ProgramIndex& index, const CallGraph& calls, const Locksets& locks, const LockNames& names)
      : index_(index), calls_(calls), locks_(locks), names_(names), taken_(kCallDepth + 1) {}

  /// Ascending, unique.
  std::vector<Edge> of(std::uint32_t function) {
    std::vector<Edge> edges;
    if (!locks_.relevant(function)) return edges;
    for (const LockTouch& touch : locks_.touches(function)) {
      const Range events = index_.events_of_element(touch.element);
      if (takes(touch) && events.size() != 0)
        connect(events.begin, touch.lock, names_.variable(touch.lock), edges);
    }
    const Range events = index_.events_of(function);
    for (std::uint32_t event = events.begin; event < events.end; ++event) {
      const std::uint32_t first = index_.events_of_element(index_.element_of(event)).begin;
      if (locks_.at(first) == 0 || !std::holds_alternative<Call>(index_.event(event).what)) continue;
      for (const CallEdge& edge : calls_.edges_of(event, function))
        if (runs_here(edge))
          for (VariableId lock : taken(edge.callee, kCallDepth)) connect(first, kNone, lock, edges);
    }
    sort_unique(edges);
    return edges;
  }

 private:
  /// In the caller's thread, before the call returns; calls through pointers would lead everywhere.
  bool runs_here(const CallEdge& edge) const {
    return calls_.is_function(edge.callee) &&
           (edge.kind == CallKind::Direct || edge.kind == CallKind::Virtual) && !calls_.starts_thread(edge);
  }

  /// Locks that a function takes, itself or within so many levels of calls.
  const std::vector<VariableId>& taken(std::uint32_t function, int depth) {
    auto& known = taken_[static_cast<std::size_t>(depth)];
    if (const auto found = known.find(function); found != known.end()) return found->second;
    std::vector<VariableId> locks;
    if (locks_.relevant(function))
      for (const LockTouch& touch : locks_.touches(function))
        if (takes(touch) && names_.variable(touch.lock)) locks.push_back(names_.variable(touch.lock));
    if (depth > 0)
      for (const CallEdge& edge : calls_.out(function)) {
        if (!runs_here(edge)) continue;
        const std::vector<VariableId>& below = taken(edge.callee, depth - 1);
        locks.insert(locks.end(), below.begin(), below.end());
      }
    sort_unique(locks);
    if (locks.size() > kMaxTakenBelow) locks.resize(kMaxTakenBelow);
    return known.emplace(function, std::move(locks)).first->second;
  }

  void connect(std::uint32_t event, std::uint32_t lock, VariableId to, std::vector<Edge>& edges) const {
    for (const Held& held : names_.set(locks_.at(event))) {
      const VariableId from = names_.variable(held.lock);
      // Through a call: the very lock that is held, or that of another object, is not told apart.
      if (from && to && held.lock != lock && (lock != kNone || from != to))
        edges.push_back({event, from, to});
    }
  }

  const ProgramIndex& index_;
  const CallGraph& calls_;
  const Locksets& locks_;
  const LockNames& names_;
  std::vector<std::unordered_map<std::uint32_t, std::vector<VariableId>>> taken_;  ///< by depth and function
};

/// Circles: strongly connected components (Kosaraju; Sharir 1981) of the locks by their edges.
class Circles {
 public:
  explicit Circles(const std::vector<Edge>& edges) {
    for (const Edge& edge : edges) {
      next_[edge.from].push_back(edge.to);
      back_[edge.to].push_back(edge.from);
      next_[edge.to];
    }
    std::vector<VariableId> order;
    std::set<VariableId> seen;
    for (const auto& [lock, targets] : next_) finish(lock, seen, order);
    for (auto lock = order.rbegin(); lock != order.rend(); ++lock)
      if (!circle_.contains(*lock)) collect(*lock);
  }

  /// The same for all edges within one circle; none: the edge is part of no circle.
  VariableId of(const Edge& edge) const {
    const VariableId one = circle_.at(edge.from);
    return one == circle_.at(edge.to) ? one : VariableId{};
  }

 private:
  void finish(VariableId start, std::set<VariableId>& seen, std::vector<VariableId>& order) const {
    std::vector<std::pair<VariableId, bool>> work{{start, false}};
    while (!work.empty()) {
      const auto [lock, done] = work.back();
      work.pop_back();
      if (done) {
        order.push_back(lock);
      } else if (seen.insert(lock).second) {
        work.emplace_back(lock, true);
        for (VariableId target : next_.at(lock)) work.emplace_back(target, false);
      }
    }
  }

  void collect(VariableId root) {
    std::vector<VariableId> work{root};
    while (!work.empty()) {
      const VariableId lock = work.back();
      work.pop_back();
      if (!circle_.emplace(lock, root).second) continue;
      if (const auto sources = back_.find(lock); sources != back_.end())
        work.insert(work.end(), sources->second.begin(), sources->second.end());
    }
  }

  std::map<VariableId, std::vector<VariableId>> next_, back_;
  std::map<VariableId, VariableId> circle_;  ///< lock -> the first one found of its circle
};

/// Code that takes locks changed; else their order is as it was.
bool touches_locks(const ChangeContext& context) {
  return std::any_of(context.changed().begin(), context.changed().end(),
                     [&](const ChangedFunction* changed) {
                       return context.locks_after.relevant(changed->new_function);
                     }) ||
         std::any_of(context.added().begin(), context.added().end(),
                     [&](std::uint32_t f) { return context.locks_after.relevant(f); });
}

}  // namespace

std::vector<LockOrderSite> lock_order_sites(const ChangeContext& context, Marks& marks) {
  std::vector<LockOrderSite> sites;
  if (!touches_locks(context)) return sites;
  Edges after(context.after, context.calls_after, context.locks_after, context.lock_names);
  Edges before(context.before, context.calls_before, context.locks_before, context.lock_names);
  std::vector<Edge> edges;
  for (std::uint32_t f = 0; f < context.after.function_count(); ++f) {
    const std::vector<Edge> own = after.of(f);
    edges.insert(edges.end(), own.begin(), own.end());
  }
  const Circles circles(edges);
  std::unordered_map<std::uint32_t, std::vector<Edge>> old_edges;  // by function of p
  const auto is_new = [&](const Edge& edge) {
    const std::uint32_t function = context.after.function_of_event(edge.event);
    if (context.is_test_code(context.after.function(function))) return false;
    const std::uint32_t element = context.matching.old_element(context.after.element_of(edge.event));
    if (element == kNone) return true;
    const std::uint32_t old = context.before.where(element).function;
    const auto [known, fresh] = old_edges.try_emplace(old);
    if (fresh) known->second = before.of(old);
    const Range events = context.before.events_of_element(element);
    return events.size() == 0 || !std::binary_search(known->second.begin(), known->second.end(),
                                                     Edge{events.begin, edge.from, edge.to});
  };
  const Program& program = context.after.program();
  std::set<std::uint64_t> changed;
  for (const Edge& edge : edges) {
    const VariableId circle = circles.of(edge);
    if (!circle) continue;
    LockOrderSite site{edge.event, edge.to, hash_combine(hash_bytes("lock order"), circle.value), kNone};
    if (is_new(edge)) {
      changed.insert(site.circle);
      site.cause = marks.add({ImpactRule::SyncChanged,
                              "lock order: " + program.name_of(edge.to) + " is now taken while " +
                                  program.name_of(edge.from) + " is held",
                              context.after.function(context.after.function_of_event(edge.event)).file,
                              context.after.event(edge.event).at});
    }
    sites.push_back(site);
  }
  std::erase_if(sites, [&](const LockOrderSite& site) { return !changed.contains(site.circle); });
  return sites;
}

}  // namespace simrt::impact
