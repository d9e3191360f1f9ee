#include "impact/origins.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace simrt::impact {
namespace {

class Origins {
 public:
  explicit Origins(const ChangeContext& context) : context_(context), before_(context.before) {
    for (std::uint32_t f = 0; f < before_.function_count(); ++f)
      if (const FunctionId pattern = before_.function(f).pattern;
          pattern && pattern != before_.function(f).id)
        instantiations_[pattern].push_back(f);
  }

  bool collect() {
    if (!context_.changed_variables.empty() || makes_objects_at_start_up()) return false;
    for (const ChangedFunction* changed : context_.changed()) add(changed->old_function);
    for (std::uint32_t f = 0; f < before_.function_count(); ++f)
      if (context_.matching.new_function(f) == kNone && !context_.is_test_code(before_.function(f))) add(f);
    return std::all_of(context_.added().begin(), context_.added().end(),
                       [&](std::uint32_t f) { return add_ways_into(f); }) &&
           !runs_at_start_up_;
  }

  std::vector<FunctionId> take() {
    std::sort(functions_.begin(), functions_.end());
    functions_.erase(std::unique(functions_.begin(), functions_.end()), functions_.end());
    return std::move(functions_);
  }

 private:
  /// A template's pattern runs as its instantiations; a function that units define differently as any of
  /// them.
  void add(std::uint32_t function) {
    const FunctionFacts& facts = before_.function(function);
    if (facts.has(kStaticInit)) runs_at_start_up_ = true;
    if (const auto found = instantiations_.find(facts.id); found != instantiations_.end())
      for (std::uint32_t instantiation : found->second)
        functions_.push_back(before_.function(instantiation).id);
    if (facts.has(kDependent)) return;
    for (std::uint32_t variant : before_.variants(facts.id))
      functions_.push_back(before_.function(variant).id);
    if (may_be_computed_away(function) && seen_.insert(function).second)
      for (const CallEdge& edge : context_.calls_before.in(function))
        if (context_.calls_before.is_function(edge.caller)) add(edge.caller);
  }

  /// The compiler may have run it, a constructor with constants or a function over its parameters: then its
  /// callers show who depends on it. It does nothing but compute, and calls only what is alike.
  bool may_be_computed_away(std::uint32_t function) {
    const auto [known, fresh] = computed_away_.try_emplace(function, false);  // recursion ends here
    if (!fresh) return known->second;
    const bool constructor = before_.function(function).has(kConstructor);
    const Range events = before_.events_of(function);
    for (std::uint32_t event = events.begin; event < events.end; ++event) {
      const auto& what = before_.event(event).what;
      if (std::holds_alternative<LockOp>(what) || std::holds_alternative<OrderOp>(what)) return false;
      if (const auto* access = std::get_if<Access>(&what); access && context_.shared_before.contains(event) &&
                                                           !(constructor && access->place.instance == "this"))
        return false;
      if (!std::holds_alternative<Call>(what)) continue;
      const auto edges = context_.calls_before.edges_of(event, function);
      if (edges.empty() || !std::all_of(edges.begin(), edges.end(), [&](const CallEdge& edge) {
            return context_.calls_before.is_function(edge.callee) && may_be_computed_away(edge.callee);
          }))
        return false;
    }
    return computed_away_[function] = true;
  }

  /// Whoever names a new function is changed or new itself; only calls of a method that it overrides get into
  /// it from unchanged code. False when code outside the program does.
  bool add_ways_into(std::uint32_t function) {
    const ProgramIndex& after = context_.after;
    const FunctionFacts& facts = after.function(function);
    if (facts.has(kStaticInit)) return false;
    for (const FunctionId base : facts.overrides)
      if (after.find(base) == kNone) return false;
    for (const CallEdge& edge : context_.calls_after.in(function)) {
      if (!context_.calls_after.is_function(edge.caller)) continue;
      if (const std::uint32_t old = context_.matching.old_function(edge.caller); old != kNone) add(old);
    }
    return true;
  }

  /// A constructor that changed makes a global: the compiler may have run it, so that no test seems to enter
  /// it.
  bool makes_objects_at_start_up() const {
    std::vector<bool> seen(before_.function_count(), false);
    std::vector<std::uint32_t> work;
    for (std::uint32_t f = 0; f < before_.function_count(); ++f)
      if (before_.function(f).has(kStaticInit)) work.push_back(f);
    while (!work.empty()) {
      const std::uint32_t function = work.back();
      work.pop_back();
      for (const CallEdge& edge : context_.calls_before.out(function)) {
        if (edge.kind != CallKind::Direct || !context_.calls_before.is_function(edge.callee) ||
            seen[edge.callee] || !before_.function(edge.callee).has(kConstructor))
          continue;
        seen[edge.callee] = true;
        work.push_back(edge.callee);
        const std::uint32_t now = context_.matching.new_function(edge.callee);
        if (now != kNone && context_.matching.status(now) == FunctionStatus::Changed) return true;
      }
    }
    return false;
  }

  const ChangeContext& context_;
  const ProgramIndex& before_;
  std::unordered_map<FunctionId, std::vector<std::uint32_t>> instantiations_;
  std::vector<FunctionId> functions_;
  std::set<std::uint32_t> seen_;  ///< whose callers are in, too
  std::unordered_map<std::uint32_t, bool> computed_away_;
  bool runs_at_start_up_ = false;
};

}  // namespace

std::optional<std::vector<FunctionId>> change_origins(const ChangeContext& context) {
  Origins origins(context);
  if (!origins.collect()) return std::nullopt;
  return origins.take();
}

}  // namespace simrt::impact
