#include "impact/call_graph.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace simrt::impact {
namespace {

template <class T>
void sort_unique(std::vector<T>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

/// Whether a call without a named callee can mean this function.
bool may_call(const Call& call, const FunctionFacts& callback) {
  const std::size_t arguments = call.arguments.size(), parameters = arity(callback);
  if (call.kind != CallKind::Pointer)  // std::bind adds arguments; a pointer to member takes the object too
    return parameters + 1 >= arguments;
  return parameters == arguments &&
         (call.prototype == 0 || callback.prototype == 0 || call.prototype == callback.prototype);
}

}  // namespace

std::uint32_t arity(const FunctionFacts& function) {
  return static_cast<std::uint32_t>(std::count_if(function.locals.begin(), function.locals.end(),
                                                  [](const Local& local) { return local.parameter; }));
}

CallGraph::CallGraph(const ProgramIndex& index) : index_(index), function_count_(index.function_count()) {
  node_count_ = function_count_;
  collect_overrides();
  for (std::uint32_t f = 0; f < function_count_; ++f) add_calls(f);
  add_lambdas();
  add_pointer_targets();
  sort_edges();
  find_spawners();
  find_thread_entries();
}

void CallGraph::collect_overrides() {
  overridden_by_.resize(function_count_);
  instantiated_as_.resize(function_count_);
  for (std::uint32_t f = 0; f < function_count_; ++f) {
    for (FunctionId base : index_.function(f).overrides) {
      const auto methods = index_.variants(base);
      for (std::uint32_t method : methods) overridden_by_[method].push_back(f);
      if (methods.empty()) overriders_of_unknown_[base].push_back(f);
    }
    if (FunctionId pattern = index_.function(f).pattern; pattern && pattern != index_.function(f).id)
      for (std::uint32_t p : index_.variants(pattern)) instantiated_as_[p].push_back(f);
  }
}

std::vector<std::uint32_t> CallGraph::overriders(std::uint32_t function) const {
  std::vector<std::uint32_t> found = overridden_by_[function];
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::uint32_t next : overridden_by_[found[i]])
      if (std::find(found.begin(), found.end(), next) == found.end()) found.push_back(next);
  sort_unique(found);
  return found;
}

void CallGraph::add_calls(std::uint32_t function) {
  // A template pattern never runs, and its unresolved names would go everywhere: its instantiations have the
  // calls.
  const bool pattern_only = index_.function(function).has(kDependent) && !instantiated_as_[function].empty();
  const Range events = index_.events_of(function);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const Call* call = std::get_if<Call>(&index_.event(event).what);
    if (!call) continue;
    if (!call->callee) {
      if (!pattern_only) pointer_calls_.emplace_back(function, event);
      continue;
    }
    add_targets(function, event, *call);
  }
}

void CallGraph::add_targets(std::uint32_t caller, std::uint32_t event, const Call& call) {
  for (std::uint32_t callee : index_.variants(call.callee)) {
    out_.push_back({caller, callee, event, call.kind});
    // A method handed on by pointer dispatches virtually too.
    if (call.kind != CallKind::Direct)
      for (std::uint32_t overrider : overriders(callee))
        out_.push_back({caller, overrider, event, call.kind});
    if (call.kind == CallKind::Callback) callbacks_.push_back(callee);
    // A call that names the pattern (from another pattern, or with a deduced type) may mean any
    // instantiation.
    for (std::uint32_t instance : instantiated_as_[callee])
      out_.push_back({caller, instance, event, call.kind});
  }
  // The base method has no body here (pure, or outside the repository), but overriders may.
  if (call.kind == CallKind::Direct) return;
  const auto unknown = overriders_of_unknown_.find(call.callee);
  if (unknown == overriders_of_unknown_.end()) return;
  for (std::uint32_t method : unknown->second) {
    out_.push_back({caller, method, event, call.kind});
    for (std::uint32_t overrider : overriders(method)) out_.push_back({caller, overrider, event, call.kind});
  }
}

void CallGraph::add_lambdas() {
  std::vector<bool> reached(function_count_, false);
  for (const CallEdge& edge : out_) reached[edge.callee] = true;
  for (std::uint32_t f = 0; f < function_count_; ++f) {
    const FunctionFacts& lambda = index_.function(f);
    if (!lambda.has(kLambda) || !lambda.parent) continue;
    callbacks_.push_back(f);  // may be stored and called through std::function
    if (reached[f]) continue;
    for (std::uint32_t parent : index_.variants(lambda.parent))
      out_.push_back({parent, f, kNone, CallKind::Callback});
  }
}

void CallGraph::add_pointer_targets() {
  sort_unique(callbacks_);
  std::map<std::tuple<std::size_t, bool, std::uint64_t>, std::uint32_t> hubs;
  for (auto [caller, event] : pointer_calls_) {
    const Call& call = std::get<Call>(index_.event(event).what);
    auto [hub, fresh] = hubs.try_emplace(
        {call.arguments.size(), call.kind == CallKind::Pointer, call.prototype}, node_count_);
    out_.push_back({caller, hub->second, event, CallKind::Indirect});
    if (!fresh) continue;
    ++node_count_;
    for (std::uint32_t callback : callbacks_)
      if (may_call(call, index_.function(callback)))
        out_.push_back({hub->second, callback, kNone, CallKind::Indirect});
  }
}

void CallGraph::sort_edges() {
  const auto by_caller = [](const CallEdge& a, const CallEdge& b) {
    return std::tie(a.caller, a.event, a.callee) < std::tie(b.caller, b.event, b.callee);
  };
  const auto same = [](const CallEdge& a, const CallEdge& b) {
    return a.caller == b.caller && a.event == b.event && a.callee == b.callee;
  };
  std::stable_sort(out_.begin(), out_.end(), by_caller);
  out_.erase(std::unique(out_.begin(), out_.end(), same), out_.end());
  in_ = out_;
  std::stable_sort(in_.begin(), in_.end(),
                   [](const CallEdge& a, const CallEdge& b) { return a.callee < b.callee; });
  first_out_.assign(node_count_ + 1, 0);
  first_in_.assign(node_count_ + 1, 0);
  for (const CallEdge& edge : out_) {
    ++first_out_[edge.caller + 1];
    ++first_in_[edge.callee + 1];
  }
  for (std::uint32_t node = 0; node < node_count_; ++node) {
    first_out_[node + 1] += first_out_[node];
    first_in_[node + 1] += first_in_[node];
  }
}

std::span<const CallEdge> CallGraph::out(std::uint32_t node) const {
  return {out_.data() + first_out_[node], first_out_[node + 1] - first_out_[node]};
}

std::span<const CallEdge> CallGraph::in(std::uint32_t node) const {
  return {in_.data() + first_in_[node], first_in_[node + 1] - first_in_[node]};
}

std::span<const CallEdge> CallGraph::edges_of(std::uint32_t event, std::uint32_t caller) const {
  const auto edges = out(caller);
  const auto [first, last] =
      std::equal_range(edges.begin(), edges.end(), CallEdge{0, 0, event, CallKind::Direct},
                       [](const CallEdge& a, const CallEdge& b) { return a.event < b.event; });
  return edges.subspan(static_cast<std::size_t>(first - edges.begin()),
                       static_cast<std::size_t>(last - first));
}

std::vector<std::uint32_t> CallGraph::closure(const std::vector<std::uint32_t>& start) const {
  std::vector<bool> seen(node_count_, false);
  std::vector<std::uint32_t> reached;
  for (std::uint32_t node : start)
    if (!seen[node]) seen[node] = true, reached.push_back(node);
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const CallEdge& edge : out(reached[i]))
      if (!seen[edge.callee]) seen[edge.callee] = true, reached.push_back(edge.callee);
  std::erase_if(reached, [&](std::uint32_t node) { return !is_function(node); });
  std::sort(reached.begin(), reached.end());
  return reached;
}

void CallGraph::find_spawners() {
  starts_threads_.assign(node_count_, false);
  std::vector<std::uint32_t> found;
  const auto add = [&](std::uint32_t node) {
    if (!starts_threads_[node]) starts_threads_[node] = true, found.push_back(node);
  };
  for (const CallEdge& edge : out_)
    if (edge.kind == CallKind::Spawn) add(edge.caller);
  // Only named calls count: through pointers everything would be a spawner.
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const CallEdge& edge : in(found[i]))
      if (edge.kind == CallKind::Direct || edge.kind == CallKind::Virtual) add(edge.caller);
}

bool CallGraph::hands_to_spawner(std::uint32_t event) const {
  const Range events = index_.events_of_element(index_.element_of(event));
  const std::uint32_t caller = index_.function_of_event(event);
  for (std::uint32_t other = events.begin; other < events.end; ++other) {
    const Call* call = std::get_if<Call>(&index_.event(other).what);
    if (!call || (call->kind != CallKind::Direct && call->kind != CallKind::Virtual)) continue;
    for (const CallEdge& edge : edges_of(other, caller))
      if (starts_threads_[edge.callee]) return true;
  }
  return false;
}

void CallGraph::find_thread_entries() {
  for (const CallEdge& edge : out_)
    if (starts_thread(edge)) thread_entries_.push_back(edge.callee);
  sort_unique(thread_entries_);
}

}  // namespace simrt::impact
