#include "impact/captures.h"

#include <algorithm>
#include <unordered_map>

namespace simrt::impact {
namespace {

constexpr int kMaxNesting = 8;

class Captures {
 public:
  explicit Captures(const ChangeContext& context)
      : context_(context), before_(context.before), after_(context.after) {}

  /// False when nothing around the lambda changed.
  bool enter(std::uint32_t lambda) {
    partner_.clear();
    std::uint32_t outer = lambda;
    for (int depth = 0; depth < kMaxNesting; ++depth) {
      const FunctionId parent = after_.function(outer).parent;
      outer = parent ? after_.find(parent) : kNone;
      if (outer == kNone) break;
      if (const ChangedFunction* changed = context_.matching.changed(outer)) add(*changed);
    }
    return !partner_.empty();
  }

  bool differs(const Event& then, const Event& now) const {
    if (then.what.index() != now.what.index()) return true;
    if (const auto* access = std::get_if<Access>(&then.what))
      return differs(access->place, std::get<Access>(now.what).place);
    if (const auto* order = std::get_if<OrderOp>(&then.what))
      return differs(order->object, std::get<OrderOp>(now.what).object);
    if (const auto* flow = std::get_if<Binding>(&then.what)) {
      const auto& other = std::get<Binding>(now.what);
      return differs(flow->target, other.target) || differs(flow->value.place, other.value.place);
    }
    if (const auto* lock = std::get_if<LockOp>(&then.what)) {
      const auto& other = std::get<LockOp>(now.what);
      if (lock->locks.size() != other.locks.size() || differs(lock->guard, other.guard)) return true;
      for (std::size_t i = 0; i < lock->locks.size(); ++i)
        if (differs(lock->locks[i], other.locks[i])) return true;
      return false;
    }
    const auto& call = std::get<Call>(then.what);
    const auto& other = std::get<Call>(now.what);
    if (call.arguments.size() != other.arguments.size() ||
        call.receiver.has_value() != other.receiver.has_value())
      return true;
    if (call.receiver && differs(call.receiver->place, other.receiver->place)) return true;
    for (std::size_t i = 0; i < call.arguments.size(); ++i)
      if (differs(call.arguments[i].place, other.arguments[i].place)) return true;
    return false;
  }

 private:
  void add(const ChangedFunction& changed) {
    const FunctionId now = after_.function(changed.new_function).id;
    const std::size_t count = before_.function(changed.old_function).locals.size();
    for (const FunctionId then : before_.identities(changed.old_function))
      for (std::uint32_t local = 0; local < count; ++local) {
        const std::uint32_t partner = changed.renaming.local(local);
        partner_[local_of(then, local)] = partner == kNone ? VariableId{} : local_of(now, partner);
        partner_[parameter_of(then, local)] = partner == kNone ? VariableId{} : parameter_of(now, partner);
      }
  }

  /// Only variables of the functions around count; the lambda's own are told by its body.
  bool differs(const Place& then, const Place& now) const {
    const auto known = partner_.find(then.base);
    return known != partner_.end() && known->second != now.base;
  }

  const ChangeContext& context_;
  const ProgramIndex &before_, &after_;
  std::unordered_map<VariableId, VariableId> partner_;  ///< of p -> of p'; none: it is gone
};

}  // namespace

std::vector<std::uint32_t> other_captures(const ChangeContext& context) {
  std::vector<std::uint32_t> found;
  Captures captures(context);
  for (std::uint32_t f = 0; f < context.after.function_count(); ++f) {
    const FunctionFacts& lambda = context.after.function(f);
    const std::uint32_t old = context.matching.old_function(f);
    if (!lambda.has(kLambda) || old == kNone || context.matching.changed(f) || context.is_test_code(lambda))
      continue;
    if (!captures.enter(f)) continue;
    const Range now = context.after.events_of(f), then = context.before.events_of(old);
    for (std::uint32_t i = 0; i < std::min(now.size(), then.size()); ++i)
      if (captures.differs(context.before.event(then.begin + i), context.after.event(now.begin + i)))
        found.push_back(now.begin + i);
  }
  return found;
}

}  // namespace simrt::impact
