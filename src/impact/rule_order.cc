// Rule 3 for what orders without a lock. An ordering operation that the change adds, removes or alters
// impacts the accesses it orders: what runs before a release-like one, after an acquire-like one, in the
// function and its callees; for threads that are started, joined or detached also the entry function. What
// threads do that were started before a release-like one counts only if it may have been taken over (joined,
// waited for, locked after) in between. Small
// wrappers pass the effect on to their call sites; joins do so from any function, because what they order
// lies in the caller.
#include <algorithm>
#include <map>
#include <string_view>

#include "impact/acquires.h"
#include "impact/initial_values.h"
#include "impact/lock_regions.h"
#include "impact/order_effects.h"
#include "impact/order_regions.h"
#include "impact/rules.h"

namespace simrt::impact {
namespace {

/// What the library's guards call (the standard's named requirements of locks).
bool is_lock_method(const std::string& function) {
  const std::string name = function.substr(0, function.find('('));
  const std::string method = name.substr(name.rfind(':') + 1);
  for (const char* known : {"lock", "unlock", "try_lock", "lock_shared", "unlock_shared", "try_lock_shared",
                            "try_lock_for", "try_lock_until"})
    if (method == known) return true;
  return false;
}

/// "const ns::Spin *" and "ns::Spin[4]" to "ns::Spin"; template arguments count as any.
bool is_or_refers_to(std::string_view type, std::string_view owner) {
  for (std::string_view word : {"const ", "volatile ", "class ", "struct "})
    if (type.substr(0, word.size()) == word) type.remove_prefix(word.size());
  owner = owner.substr(0, owner.find('<'));
  return type.substr(0, type.find_first_of("<*&[ ")) == owner;
}

class OrderRule {
 public:
  OrderRule(const ChangeContext& context, Marks& marks)
      : context_(context),
        before_(context.before),
        after_(context.after),
        marks_(marks),
        regions_(context, marks),
        orders_before_(context.before, context.calls_before),
        orders_after_(context.after, context.calls_after),
        acquires_before_(context.before, context.calls_before),
        ordered_(context, marks) {}

  void added_function(std::uint32_t function);
  void changed_function(const ChangedFunction& changed);
  void changed_objects();

 private:
  void added_element(std::uint32_t element);
  void altered_element(const ChangedFunction& changed, std::uint32_t element);
  void removed_element(const ChangedFunction& changed, std::uint32_t old_element);
  void changed_predicate(const ChangedFunction& changed);
  void changed_wait_conditions(const ChangedFunction& changed);
  void changed_lock_class(const ChangedFunction& changed);
  void removed_flags(const ChangedFunction& changed);
  bool looks_at(std::uint32_t wait, VariableId flag) const;
  bool synchronises(bool in_after, std::uint32_t element) const;

  /// Effects of an event of either version; calls count through the wrappers they reach.
  std::uint8_t effects(bool in_after, std::uint32_t event) const;
  std::string describe(bool in_after, std::uint32_t event) const;
  void mark_threads(bool in_after, std::uint32_t event, std::uint32_t cause);
  std::uint32_t cause(const std::string& text, std::uint32_t function, SourcePoint at);
  bool waits(std::uint32_t element) const;

  const ChangeContext& context_;
  const ProgramIndex& before_;
  const ProgramIndex& after_;
  Marks& marks_;
  LockRegions regions_;
  const OrderSummaries orders_before_, orders_after_;
  const Acquires acquires_before_;
  OrderRegions ordered_;
};

std::uint8_t OrderRule::effects(bool in_after, std::uint32_t event) const {
  const ProgramIndex& index = in_after ? after_ : before_;
  if (std::holds_alternative<Call>(index.event(event).what))
    return (in_after ? orders_after_ : orders_before_).of_call(event);
  return order_effects(index.event(event));
}

std::string OrderRule::describe(bool in_after, std::uint32_t event) const {
  const ProgramIndex& index = in_after ? after_ : before_;
  if (const auto* call = std::get_if<Call>(&index.event(event).what)) return "ordering call of " + call->name;
  return describe_order(index.program(), index.event(event));
}

std::uint32_t OrderRule::cause(const std::string& text, std::uint32_t function, SourcePoint at) {
  return marks_.add({ImpactRule::SyncChanged, text, after_.function(function).file, at});
}

void OrderRule::mark_threads(bool in_after, std::uint32_t event, std::uint32_t cause) {
  const ProgramIndex& index = in_after ? after_ : before_;
  const auto* op = std::get_if<OrderOp>(&index.event(event).what);
  if (!op) return;
  const std::uint32_t function = index.function_of_event(event);
  std::vector<std::uint32_t> entries =
      (in_after ? orders_after_ : orders_before_).entries_of(op->object, function);
  if (!in_after) {
    for (std::uint32_t& entry : entries) entry = context_.matching.new_function(entry);
    std::erase(entries, kNone);
  }
  marks_.closure(entries, cause);
}

void OrderRule::added_element(std::uint32_t element) {
  const std::uint32_t function = after_.where(element).function;
  const Range events = after_.events_of_element(element);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const std::uint8_t effect = effects(true, event);
    if (effect == kNoOrder) continue;
    const std::uint32_t why = cause(describe(true, event) + " added", function, after_.event(event).at);
    ordered_.operation(element, effect, why);
    if (effect & kOrdersThreads) mark_threads(true, event, why);
  }
}

void OrderRule::added_function(std::uint32_t function) {
  const Range elements = after_.elements_of(function);
  for (std::uint32_t element = elements.begin; element < elements.end; ++element) added_element(element);
}

void OrderRule::altered_element(const ChangedFunction& changed, std::uint32_t element) {
  const std::uint32_t new_base = after_.events_of(changed.new_function).begin;
  const std::uint32_t old_base = before_.events_of(changed.old_function).begin;
  const std::uint32_t old_element =
      changed.old_element[element - after_.elements_of(changed.new_function).begin];
  // The very operation altered with nothing to show for it (a literal argument): its effect still may be
  // another one.
  const bool explained = context_.alteration_is_in_events(changed, element);
  std::uint8_t all = kNoOrder;
  std::string text;
  const Range fresh = after_.events_of_element(element);
  for (std::uint32_t event = fresh.begin; event < fresh.end; ++event) {
    const bool operation = std::holds_alternative<OrderOp>(after_.event(event).what);
    const bool twin = changed.old_event[event - new_base] != kNone;
    const std::uint8_t effect = effects(true, event);
    if (effect == kNoOrder || (twin && !operation && explained)) continue;
    if (twin && std::holds_alternative<Access>(after_.event(event).what)) continue;  // same order as before
    all |= effect;
    if (text.empty()) text = describe(true, event) + " altered";
  }
  const Range old = before_.events_of_element(old_element);
  std::string was;
  for (std::uint32_t event = old.begin; event < old.end; ++event) {
    if (changed.new_event[event - old_base] != kNone) continue;
    const std::uint8_t effect = effects(false, event);
    if (effect == kNoOrder) continue;
    all |= effect;
    if (was.empty()) was = describe(false, event);
  }
  if (all == kNoOrder) return;
  if (text.empty())
    text = was + " taken away";
  else if (!was.empty())
    text += " (was: " + was + ")";
  const std::uint32_t why = cause(text, changed.new_function, after_.element(element).at);
  ordered_.operation(element, all, why);
  marks_.execution(element, why);
  if ((all & kOrdersThreads) == 0) return;
  for (std::uint32_t event = fresh.begin; event < fresh.end; ++event)
    if (effects(true, event) & kOrdersThreads) mark_threads(true, event, why);
  for (std::uint32_t event = old.begin; event < old.end; ++event)
    if (effects(false, event) & kOrdersThreads) mark_threads(false, event, why);
}

/// The operation is gone: what it ordered is found in the old CFG and looked up in the new one.
void OrderRule::removed_element(const ChangedFunction& changed, std::uint32_t old_element) {
  const Range events = before_.events_of_element(old_element);
  const std::uint32_t old_first = before_.elements_of(changed.old_function).begin;
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const std::uint8_t effect = effects(false, event);
    if (effect == kNoOrder) continue;
    const std::uint32_t why = cause(describe(false, event) + " removed", changed.new_function,
                                    context_.nearest_in_after(changed, old_element));
    const ControlFlow& flow = context_.flow_before(changed.old_function);
    const auto partner = [&](std::uint32_t old) { return changed.new_element[old - old_first]; };
    if (effect & (kOrdersBefore | kWakes)) {
      const std::vector<std::uint32_t> earlier = flow.elements_from(old_element, Direction::Backward);
      const Threads threads = acquires_before_.any(earlier) ? Threads::All : Threads::Own;
      for (std::uint32_t old : earlier)
        if (partner(old) != kNone) ordered_.earlier(partner(old), effect, why, threads);
    }
    if (effect & kOrdersAfter)
      for (std::uint32_t old : flow.elements_from(old_element, Direction::Forward))
        if (partner(old) != kNone) marks_.execution(partner(old), why);
    // What it called (the function of a once-flag) may now run otherwise or at other times.
    for (std::uint32_t call = events.begin; call < events.end; ++call) {
      for (const CallEdge& edge : context_.calls_before.edges_of(call, changed.old_function)) {
        if (!context_.calls_before.is_function(edge.callee)) continue;
        const std::uint32_t callee = context_.matching.new_function(edge.callee);
        if (callee != kNone) marks_.closure({callee}, why);
      }
    }
    if (effect & kOrdersThreads) mark_threads(false, event, why);
    ordered_.wrapper(changed.new_function, effect, why, 0);
  }
}

bool OrderRule::waits(std::uint32_t element) const {
  const Range events = after_.events_of_element(element);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const auto* op = std::get_if<OrderOp>(&after_.event(event).what);
    if (op && (op->kind == OrderKind::ConditionWait || op->kind == OrderKind::AtomicWait)) return true;
  }
  return false;
}

/// A changed function that is the predicate of a wait: the wait ends under another condition.
void OrderRule::changed_predicate(const ChangedFunction& changed) {
  for (const CallEdge& edge : context_.calls_after.in(changed.new_function)) {
    if (edge.event == kNone || !waits(after_.element_of(edge.event))) continue;
    ordered_.operation(after_.element_of(edge.event), kOrdersAfter,
                       cause("predicate of a wait altered", changed.new_function,
                             {after_.function(changed.new_function).begin_line, 1}));
  }
}

/// `while (!ready) cv.wait(lock)`: a changed condition around a wait is a changed wait.
void OrderRule::changed_wait_conditions(const ChangedFunction& changed) {
  const Range elements = after_.elements_of(changed.new_function);
  std::vector<std::uint32_t> waiting;
  for (std::uint32_t element = elements.begin; element < elements.end; ++element)
    if (waits(element)) waiting.push_back(element);
  if (waiting.empty()) return;
  const ControlFlow& flow = context_.flow_after(changed.new_function);
  for (std::uint32_t element = elements.begin; element < elements.end; ++element) {
    if (changed.status[element - elements.begin] == ElementStatus::Same || !flow.is_condition(element))
      continue;
    const auto controlled = flow.controlled_by(after_.where(element).block);
    for (std::uint32_t wait : waiting)
      if (std::binary_search(controlled.begin(), controlled.end(), after_.where(wait).block))
        ordered_.operation(
            wait, kOrdersAfter,
            cause("condition of a wait altered", changed.new_function, after_.element(element).at));
  }
  const ControlFlow& old_flow = context_.flow_before(changed.old_function);
  for (std::uint32_t old : changed.removed) {
    if (!old_flow.is_condition(old)) continue;
    const auto controlled = old_flow.controlled_by(before_.where(old).block);
    for (std::uint32_t wait : waiting) {
      const std::uint32_t partner = changed.old_element[wait - elements.begin];
      if (partner != kNone &&
          std::binary_search(controlled.begin(), controlled.end(), before_.where(partner).block))
        ordered_.operation(wait, kOrdersAfter,
                           cause("condition of a wait removed", changed.new_function,
                                 context_.nearest_in_after(changed, old)));
    }
  }
}

/// The predicate of the wait, or the function around it, reads the variable.
bool OrderRule::looks_at(std::uint32_t wait, VariableId flag) const {
  const auto reads = [&](std::uint32_t function) {
    const Range events = after_.events_of(function);
    for (std::uint32_t event = events.begin; event < events.end; ++event)
      if (const auto* access = std::get_if<Access>(&after_.event(event).what);
          access && access->mode == AccessMode::Read && access->place.base == flag)
        return true;
    return false;
  };
  const std::uint32_t function = after_.where(wait).function;
  if (reads(function)) return true;
  const Range events = after_.events_of_element(wait);
  for (std::uint32_t event = events.begin; event < events.end; ++event)
    for (const CallEdge& edge : context_.calls_after.edges_of(event, function))
      if (context_.calls_after.is_function(edge.callee) && reads(edge.callee)) return true;
  return false;
}

/// `stop = true` is gone: whoever waits for it goes on at another time, or never.
void OrderRule::removed_flags(const ChangedFunction& changed) {
  std::map<VariableId, std::uint32_t> gone;  // -> old element
  for (std::uint32_t old : changed.removed) {
    const Range events = before_.events_of_element(old);
    for (std::uint32_t event = events.begin; event < events.end; ++event)
      if (const auto* access = std::get_if<Access>(&before_.event(event).what);
          access && access->mode == AccessMode::Write && context_.shared_before.contains(event))
        gone.try_emplace(changed.renaming.variable(access->place.base), old);
  }
  if (gone.empty()) return;
  for (std::uint32_t event = 0; event < after_.event_count(); ++event) {
    const auto* op = std::get_if<OrderOp>(&after_.event(event).what);
    if (!op || (op->kind != OrderKind::ConditionWait && op->kind != OrderKind::AtomicWait)) continue;
    const std::uint32_t wait = after_.element_of(event);
    for (const auto& [flag, old] : gone)
      if (looks_at(wait, flag))
        ordered_.operation(
            wait, kOrdersAfter,
            cause("write of " + after_.program().name_of(flag) + ", which a wait looks at, removed",
                  changed.new_function, context_.nearest_in_after(changed, old)));
  }
}

bool OrderRule::synchronises(bool in_after, std::uint32_t element) const {
  const ProgramIndex& index = in_after ? after_ : before_;
  const Range events = index.events_of_element(element);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const auto* access = std::get_if<Access>(&index.event(event).what);
    if (effects(in_after, event) != kNoOrder || (access && access->order != MemoryOrder::NotAtomic))
      return true;
  }
  return false;
}

/// `lock` and `unlock` of a home-made lock over atomics: guards of the library call them, which no facts
/// tell.
void OrderRule::changed_lock_class(const ChangedFunction& changed) {
  const FunctionFacts& function = after_.function(changed.new_function);
  const std::string owner = class_of(function);
  if (owner.empty() || !is_lock_method(function.name)) return;
  const Range elements = after_.elements_of(changed.new_function);
  bool altered = std::any_of(changed.removed.begin(), changed.removed.end(),
                             [&](std::uint32_t old) { return synchronises(false, old); });
  for (std::uint32_t element = elements.begin; element < elements.end && !altered; ++element)
    altered = changed.status[element - elements.begin] != ElementStatus::Same && synchronises(true, element);
  if (!altered) return;
  const std::uint32_t why = cause(function.name + " altered", changed.new_function, {function.begin_line, 1});
  for (std::uint32_t event = 0; event < after_.event_count(); ++event) {
    const auto* op = std::get_if<LockOp>(&after_.event(event).what);
    if (!op) continue;
    for (const Place& lock : op->locks)
      if (const VariableFacts* object = after_.program().variable(lock.base);
          object && is_or_refers_to(object->type, owner))
        regions_.other_lock(after_.element_of(event), why);
  }
}

void OrderRule::changed_function(const ChangedFunction& changed) {
  const Range elements = after_.elements_of(changed.new_function);
  for (std::uint32_t element = elements.begin; element < elements.end; ++element) {
    const ElementStatus status = changed.status[element - elements.begin];
    if (status == ElementStatus::Added) added_element(element);
    if (status == ElementStatus::Altered) altered_element(changed, element);
  }
  for (std::uint32_t old : changed.removed) removed_element(changed, old);
  changed_predicate(changed);
  changed_wait_conditions(changed);
  changed_lock_class(changed);
  removed_flags(changed);
}

/// Semaphores, latches and barriers that start with another count, locks that start as another kind.
void OrderRule::changed_objects() {
  auto values = changed_initial_values(context_);
  values.merge(changed_set_up(context_, [&](VariableId object) {
    const VariableFacts* facts = after_.program().variable(object);
    return ordered_.counts(object) || (facts && (facts->traits & kMutex) != 0);
  }));
  if (values.empty()) return;
  const auto why = [&](VariableId object, std::uint32_t element) {
    return cause("initial value of " + after_.program().name_of(object) + " altered",
                 after_.where(element).function, after_.element(element).at);
  };
  for (std::uint32_t event = 0; event < after_.event_count(); ++event) {
    if (const auto* op = std::get_if<OrderOp>(&after_.event(event).what)) {
      if (const auto changed = values.find(op->object.base); changed != values.end())
        ordered_.operation(after_.element_of(event), order_effects(after_.event(event)),
                           why(changed->first, changed->second));
    } else if (const auto* lock = std::get_if<LockOp>(&after_.event(event).what);
               lock && lock->action != LockAction::Release) {
      for (const Place& place : lock->locks)
        if (const auto changed = values.find(place.base); changed != values.end())
          regions_.other_lock(after_.element_of(event), why(changed->first, changed->second));
    }
  }
}

}  // namespace

void rule_order(const ChangeContext& context, Marks& marks) {
  OrderRule rule(context, marks);
  for (std::uint32_t function : context.added()) rule.added_function(function);
  for (const ChangedFunction* changed : context.changed()) rule.changed_function(*changed);
  rule.changed_objects();
}

}  // namespace simrt::impact
