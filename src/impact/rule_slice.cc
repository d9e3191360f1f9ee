// Rule 5: a change that touches no shared variable itself may still decide what is accessed, or whether. (Of
// a changed condition that does touch one, the branch is followed too: the paper does not, but what it guards
// runs otherwise.) The forward slice (Weiser; data dependence through locals, parameters and results, control
// dependence through branches) is followed from such changes until it meets accesses; it is bounded by the
// program only.
#include "impact/rules.h"
#include "impact/slicer.h"

namespace simrt::impact {

/// Elements by the globals and members that they read, call through or lock.
void Slicer::find_readers() {
  if (!readers_.empty()) return;
  for (std::uint32_t event = 0; event < after_.event_count(); ++event) {
    const std::uint32_t element = after_.element_of(event);
    const auto reads = [&](VariableId variable) {
      auto& elements = readers_[variable];
      if (elements.empty() || elements.back() != element) elements.push_back(element);
    };
    const auto& what = after_.event(event).what;
    if (const auto* access = std::get_if<Access>(&what); access && access->mode == AccessMode::Read)
      reads(access->place.base);
    if (const auto* flow = std::get_if<Binding>(&what)) reads(flow->value.place.base);
    if (const auto* call = std::get_if<Call>(&what)) {
      if (call->receiver) reads(call->receiver->place.base);
      for (const Value& argument : call->arguments) reads(argument.place.base);
    }
    if (const auto* op = std::get_if<LockOp>(&what))
      for (const Place& lock : op->locks) {
        reads(lock.base);
        if (lock.derefs > 0) lock_pointers_.insert(lock.base);
      }
  }
}

/// To wherever a variable that is no local is read, or only to where it says which lock is meant.
void Slicer::read_by_others(VariableId variable, std::uint32_t cause, bool as_lock) {
  find_readers();
  if (!variable || !read_by_others_.insert({variable, as_lock}).second) return;
  const auto readers = readers_.find(variable);
  if (readers == readers_.end()) return;
  const auto locks = [&](std::uint32_t element) {
    const Range events = after_.events_of_element(element);
    for (std::uint32_t event = events.begin; event < events.end; ++event)
      if (const auto* op = std::get_if<LockOp>(&after_.event(event).what))
        for (const Place& lock : op->locks)
          if (lock.base == variable) return true;
    return false;
  };
  for (std::uint32_t element : readers->second)
    if (!as_lock || locks(element)) work_.push_back({Step::Data, element, 0, kNone, cause, kNone, variable});
}

/// Affected values that outlive the function: those of start-up, those that say which lock is meant, and
/// counts of semaphores, latches and barriers. (Other memory is not followed: rule 1 has the accesses.)
void Slicer::stored(std::uint32_t element, std::uint32_t cause) {
  const bool at_start_up = after_.function(after_.where(element).function).has(kStaticInit);
  const Range events = after_.events_of_element(element);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const auto* access = std::get_if<Access>(&after_.event(event).what);
    const auto* flow = std::get_if<Binding>(&after_.event(event).what);
    if (!flow && !(access && access->mode == AccessMode::Write)) continue;
    const VariableId variable = flow ? flow->target.base : access->place.base;
    find_readers();
    if (flow && ordered_.counts(variable)) ordered_.other_count(variable, cause);
    if (at_start_up)
      read_by_others(variable, cause, false);
    else if (lock_pointers_.contains(variable))
      read_by_others(variable, cause, true);
  }
}

void Slicer::run() {
  while (!work_.empty()) {
    const Step step = work_.front();
    work_.pop_front();
    switch (step.kind) {
      case Step::Value:
        follow_value(step);
        break;
      case Step::Data:
        data(step);
        break;
      case Step::Control:
        control(step);
        break;
    }
  }
}

/// To every use that this value of the local reaches (killed where it is defined anew).
void Slicer::follow_value(const Step& step) {
  const std::uint64_t from = step.element == kNone ? (1ULL << 31) + step.function : step.element;
  if (!values_.insert(from << 32 | step.local).second) return;
  const FunctionFacts& facts = after_.function(step.function);
  std::vector<bool> seen(facts.blocks.size(), false);
  std::vector<std::uint32_t> next;
  if (step.element == kNone) {
    const std::uint32_t entry = after_.block_position(step.function, facts.entry);
    if (entry == kNone) return;
    next.push_back(entry);
  } else {
    const std::uint32_t home = after_.where(step.element).block;
    follow_in_block(step, home, step.element + 1, next);
  }
  while (!next.empty()) {
    const std::uint32_t block = next.back();
    next.pop_back();
    if (seen[block]) continue;
    seen[block] = true;
    follow_in_block(step, block, after_.elements_of_block(step.function, block).begin, next);
  }
}

void Slicer::follow_in_block(const Step& step, std::uint32_t block, std::uint32_t first,
                             std::vector<std::uint32_t>& next) {
  const Range range = after_.elements_of_block(step.function, block);
  for (std::uint32_t element = first; element < range.end; ++element) {
    if (uses(element, step.local))
      work_.push_back({Step::Data, element, step.function, step.local, step.cause});
    if (defines(element, step.local) && !uses(element, step.local)) return;
  }
  for (std::uint32_t successor : context_.flow_after(step.function).successors(block))
    next.push_back(successor);
}

std::vector<VariableId> Slicer::ids_of(std::uint32_t function, std::uint32_t local) const {
  std::vector<VariableId> ids;
  for (FunctionId name : after_.identities(function)) {
    ids.push_back(local_of(name, local));
    if (local < after_.function(function).locals.size() && after_.function(function).locals[local].parameter)
      ids.push_back(parameter_of(name, local));
  }
  return ids;
}

/// The local itself, what it points to, or a member of either. The value of a sub-expression that is a
/// statement of its own has no name; the facts tell where it was taken from instead, so it may be any.
bool Slicer::comes_from(const Value& value, std::uint32_t function, std::uint32_t local) const {
  const auto& locals = after_.function(function).locals;
  if (local < locals.size() && locals[local].name.empty() && !locals[local].parameter) return true;
  const std::vector<VariableId> ids = ids_of(function, local);
  if (std::find(ids.begin(), ids.end(), value.place.base) != ids.end()) return true;
  std::string_view path = value.place.instance;
  path.remove_prefix(std::min(path.find_first_not_of("*&"), path.size()));
  const std::string number = std::to_string(local);
  return (path.starts_with('l') || path.starts_with('p')) && path.substr(1).starts_with(number) &&
         path.substr(1 + number.size()).find_first_of("0123456789") != 0;
}

/// The element computes with an affected value.
void Slicer::data(const Step& step) {
  into_callees(step);  // per local: another argument may be affected now
  if (by_data_[step.element]) return;
  by_data_[step.element] = true;
  marks_.element(step.element, step.cause);
  regions_.other_lock(step.element, step.cause);
  hand_on(step.element, step.cause);
  outflow(step.element, step.cause);
}

/// The element runs, or does not, by an affected branch.
void Slicer::control(const Step& step) {
  if (by_control_[step.element]) return;
  by_control_[step.element] = true;
  marks_.execution(step.element, step.cause);
  regions_.other_condition(step.element, step.cause);
  hand_on(step.element, step.cause);
  if (!in_its_old_block(step.element)) {
    const Range events = after_.events_of_element(step.element);
    for (std::uint32_t event = events.begin; event < events.end; ++event)
      if (std::holds_alternative<Call>(after_.event(event).what)) decided_calls_.insert(event);
  }
  outflow(step.element, step.cause);
}

bool Slicer::in_its_old_block(std::uint32_t element) const {
  const std::uint32_t old = context_.matching.old_element(element);
  if (old == kNone) return false;
  const ElementRef &now = after_.where(element), &then = before_.where(old);
  const auto mapped = context_.matching.old_block(now.function, now.block);
  return mapped && mapped->ordinal == before_.function(then.function).blocks[then.block].ordinal;
}

/// Functions that the element hands on: whether, or which of them, is affected. Whoever calls through a
/// pointer may newly run them.
void Slicer::hand_on(std::uint32_t element, std::uint32_t cause) {
  const Range events = after_.events_of_element(element);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const auto* call = std::get_if<Call>(&after_.event(event).what);
    if (call && call->kind == CallKind::Callback && decided_calls_.insert(event).second)
      marks_.callees(event, cause);
  }
}

/// Where the effect of an affected element goes: its definitions, its branch, the function's result.
void Slicer::outflow(std::uint32_t element, std::uint32_t cause) {
  const std::uint32_t function = after_.where(element).function;
  for (std::uint32_t local : after_.element(element).defines)
    work_.push_back({Step::Value, element, function, local, cause});
  branch(element, cause);
  stored(element, cause);
  const Range events = after_.events_of_element(element);
  const std::vector<FunctionId> names = after_.identities(function);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const auto* flow = std::get_if<Binding>(&after_.event(event).what);
    if (!flow) continue;
    for (FunctionId name : names)
      if (flow->target.base == return_of(name)) return into_callers(function, cause);
  }
}

void Slicer::branch(std::uint32_t element, std::uint32_t cause) {
  const ElementRef& at = after_.where(element);
  const ControlFlow& flow = context_.flow_after(at.function);
  if (!flow.is_condition(element)) return;
  for (std::uint32_t block : flow.controlled_by(at.block)) affect_block(at.function, block, at.block, cause);
}

void Slicer::affect_block(std::uint32_t function, std::uint32_t block, std::uint32_t by,
                          std::uint32_t cause) {
  const Range range = after_.elements_of_block(function, block);
  for (std::uint32_t e = range.begin; e < range.end; ++e) {
    branches_.add(e, by);
    work_.push_back({Step::Control, e, 0, kNone, cause});
  }
}

bool Slicer::is_affected(const Value& value, const Step& step, const std::vector<VariableId>& locals) const {
  if (!value.place.base) return true;  // an expression over anything
  if (step.read) return value.place.base == step.read;
  if (step.local != kNone)
    return std::find(locals.begin(), locals.end(), value.place.base) != locals.end() ||
           comes_from(value, after_.where(step.element).function, step.local);
  if (step.from_call == kNone) return true;
  return value.place.base == return_of(std::get<Call>(after_.event(step.from_call).what).callee);
}

void Slicer::into_callees(const Step& step) {
  const std::uint32_t function = after_.where(step.element).function;
  const std::vector<VariableId> affected =
      step.local == kNone ? std::vector<VariableId>{} : ids_of(function, step.local);
  into_closures(step.element, step.local, step.cause);
  const Range events = after_.events_of_element(step.element);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const auto* call = std::get_if<Call>(&after_.event(event).what);
    if (!call || event == step.from_call) continue;
    // A pointer to another object: another overrider. (What a pointer to a function newly holds, rule 2 has.)
    if (call->kind == CallKind::Virtual && call->receiver && call->receiver->place.base &&
        is_affected(*call->receiver, step, affected) && decided_calls_.insert(event).second)
      marks_.callees(event, step.cause);
    for (const CallEdge& edge : context_.calls_after.edges_of(event, function)) {
      if (!context_.calls_after.is_function(edge.callee)) continue;
      for (std::uint32_t i = 0; i < call->arguments.size(); ++i)
        if (is_affected(call->arguments[i], step, affected) && i < arity(after_.function(edge.callee)))
          work_.push_back({Step::Value, kNone, edge.callee, i, step.cause});
      if (after_.function(edge.callee).has(kLambda) && !affected.empty())
        into_lambda(edge.callee, affected, step.cause);
    }
  }
}

/// A captured local: the lambda's elements name it by its parent's id.
void Slicer::into_lambda(std::uint32_t lambda, const std::vector<VariableId>& captured, std::uint32_t cause) {
  const auto is_captured = [&](VariableId id) {
    return std::find(captured.begin(), captured.end(), id) != captured.end();
  };
  const Range events = after_.events_of(lambda);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const auto& what = after_.event(event).what;
    const auto* access = std::get_if<Access>(&what);
    const auto* flow = std::get_if<Binding>(&what);
    const auto* call = std::get_if<Call>(&what);
    bool touched =
        (access && is_captured(access->place.base)) || (flow && is_captured(flow->value.place.base));
    if (call)
      for (const Value& argument : call->arguments) touched = touched || is_captured(argument.place.base);
    if (touched) work_.push_back({Step::Data, after_.element_of(event), lambda, kNone, cause});
  }
}

void Slicer::find_captures() {
  for (std::uint32_t f = 0; f < after_.function_count(); ++f) {
    const FunctionFacts& lambda = after_.function(f);
    if (!lambda.has(kLambda)) continue;
    for (std::uint32_t local = 0; local < lambda.locals.size(); ++local)
      if (!lambda.locals[local].parameter) captures_.try_emplace(local_of(lambda.id, local), f, local);
  }
}

/// Captured by copy, or by an initialiser: the closure's own variable starts with an affected value.
/// `local` is the affected one; kNone: whatever the element computes.
void Slicer::into_closures(std::uint32_t element, std::uint32_t local, std::uint32_t cause) {
  const std::uint32_t function = after_.where(element).function;
  const Range events = after_.events_of_element(element);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const auto* flow = std::get_if<Binding>(&after_.event(event).what);
    if (!flow) continue;
    const bool affected =
        local == kNone || !flow->value.place.base || comes_from(flow->value, function, local);
    const auto captured = affected ? captures_.find(flow->target.base) : captures_.end();
    if (captured != captures_.end() && captured->second.first != function)
      work_.push_back({Step::Value, kNone, captured->second.first, captured->second.second, cause});
  }
}

/// The result is affected: so is every element that calls the function for it, also through a pointer or from
/// a library function that it is handed to.
void Slicer::into_callers(std::uint32_t node, std::uint32_t cause) {
  if (!results_.insert(node).second) return;
  for (const CallEdge& edge : context_.calls_after.in(node)) {
    if (edge.kind == CallKind::Spawn) continue;
    if (!context_.calls_after.is_function(edge.caller))
      into_callers(edge.caller, cause);
    else if (edge.event != kNone)
      work_.push_back({Step::Data, after_.element_of(edge.event), edge.caller, kNone, cause, edge.event});
  }
}

std::vector<std::uint32_t> rule_slice(const ChangeContext& context, Marks& marks, BranchSites& branches) {
  Slicer slicer(context, marks, branches);
  slicer.seed_initial_values();  // first: it has more to tell than that an initialiser was altered
  for (const ChangedFunction* changed : context.changed()) slicer.seed_changed_function(*changed);
  slicer.run();
  return slicer.decided_calls();
}

}  // namespace simrt::impact
