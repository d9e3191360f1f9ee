// Rule 3 for locks. Two independent views, because each sees what the other cannot:
//  - locksets at matched accesses and call sites differ between the versions: a lock removed, added, moved,
//  shrunk, another
//    mutex, shared for exclusive, a wrapper whose body changed (all in functions that may not have changed at
//    all), a callee now called without the lock (closed over its callees);
//  - a lock operation itself was added, removed or altered: the whole region that its lock protects in either
//  version.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "impact/lock_inheritance.h"
#include "impact/lock_regions.h"
#include "impact/rules.h"

namespace simrt::impact {
namespace {

class SyncRule {
 public:
  SyncRule(const ChangeContext& context, Marks& marks)
      : context_(context),
        before_(context.before),
        after_(context.after),
        marks_(marks),
        regions_(context, marks),
        names_(context.lock_names),
        inherited_before_(context.before, context.calls_before, context.locks_before, names_),
        inherited_after_(context.after, context.calls_after, context.locks_after, names_) {}

  void run() {
    find_changed_summaries();
    for (std::uint32_t f = 0; f < after_.function_count(); ++f) compare(f);
    for (const ChangedFunction* changed : context_.changed()) regions(*changed);
    for (std::uint32_t f = 0; f < after_.function_count(); ++f) lent_regions(f);
  }

 private:
  /// What a function adds to, and takes from, whatever locks its callers hold. A lock that it merely assumes
  /// (it will release it later) is as one that it never mentions.
  struct Protection {
    Lockset held;
    std::set<std::uint32_t> given_up;  ///< the caller's, on some path to here
    auto operator<=>(const Protection&) const = default;
  };

  void find_changed_summaries();
  void compare(std::uint32_t function);
  void regions(const ChangedFunction& changed);
  void lent_regions(std::uint32_t function);
  bool may_be_other_element(const ChangedFunction& changed, std::uint32_t element) const;
  void mark_region(const ChangedFunction& changed,
                   const std::map<std::uint32_t, std::uint32_t>& cause_of_lock);
  void mark_after_attempts(const ChangedFunction& changed, std::uint32_t element, std::uint32_t cause);

  Lockset old_locks(std::uint32_t old_event, const ChangedFunction* changed);
  std::uint32_t renamed_lock(std::uint32_t old_lock, const ChangedFunction& changed);
  Protection protection(const Lockset& locks, const std::vector<std::uint32_t>& released) const;
  std::string describe(const Protection& before, const Protection& after) const;
  SourcePoint place_of_change(std::uint32_t function, std::string& file) const;

  const ChangeContext& context_;
  const ProgramIndex& before_;
  const ProgramIndex& after_;
  Marks& marks_;
  LockRegions regions_;
  LockNames names_;  ///< a copy: renamed locks of old locals are added here
  const LockInheritance inherited_before_, inherited_after_;
  std::set<std::uint32_t> changed_summaries_;
};

/// Changed functions that now lock or unlock something else: the causes behind unchanged callers.
void SyncRule::find_changed_summaries() {
  for (const ChangedFunction* changed : context_.changed())
    if (!(context_.locks_before.summary(changed->old_function) ==
          context_.locks_after.summary(changed->new_function)))
      changed_summaries_.insert(changed->new_function);
}

std::uint32_t SyncRule::renamed_lock(std::uint32_t old_lock, const ChangedFunction& changed) {
  return names_.lock(changed.renaming.path(names_.path(old_lock)), names_.variable(old_lock),
                     names_.variable_name(old_lock));
}

Lockset SyncRule::old_locks(std::uint32_t old_event, const ChangedFunction* changed) {
  const Lockset& old = names_.set(context_.locks_before.at(old_event));
  if (!changed || old.empty()) return old;
  const Lockset copy = old;
  Lockset renamed;
  for (const Held& held : copy) hold(renamed, {renamed_lock(held.lock, *changed), held.mode, held.assumed});
  return renamed;
}

SyncRule::Protection SyncRule::protection(const Lockset& locks,
                                          const std::vector<std::uint32_t>& released) const {
  Protection result;
  for (const Held& held : locks)
    if (!held.assumed) result.held.push_back(held);
  for (std::uint32_t lock : released) {
    const bool still_there =
        std::any_of(locks.begin(), locks.end(), [&](const Held& held) { return held.lock == lock; });
    if (!still_there) result.given_up.insert(lock);
  }
  return result;
}

std::string SyncRule::describe(const Protection& before, const Protection& after) const {
  const auto find = [](const Lockset& set, std::uint32_t lock) -> const Held* {
    for (const Held& held : set)
      if (held.lock == lock) return &held;
    return nullptr;
  };
  const auto mode = [](const Held& held) { return held.mode == LockMode::Shared ? "shared" : "exclusive"; };
  std::set<std::string> lost, other, gained;
  for (const Held& held : before.held) {
    const Held* now = find(after.held, held.lock);
    const std::string name = names_.display(held.lock);
    if (!now) {
      lost.insert(name + " no longer held (was " + mode(held) + ")");
    } else if (now->mode != held.mode) {
      other.insert(name + " now " + mode(*now) + " (was " + mode(held) + ")");
    }
  }
  for (const Held& held : after.held)
    if (!find(before.held, held.lock)) gained.insert(names_.display(held.lock) + " now held");
  for (std::uint32_t lock : after.given_up)
    if (!before.given_up.contains(lock) && !find(before.held, lock))
      lost.insert(names_.display(lock) + " of the caller now released");
  for (std::uint32_t lock : before.given_up)
    if (!after.given_up.contains(lock) && !find(after.held, lock))
      gained.insert(names_.display(lock) + " of the caller no longer released");
  std::string text;
  for (const auto* part : {&lost, &other, &gained})
    for (const std::string& sentence : *part) text += (text.empty() ? "lock " : ", ") + sentence;
  return text;
}

/// The change behind a lockset that differs in `function`: in its own body, else in the nearest function it
/// calls.
SourcePoint SyncRule::place_of_change(std::uint32_t function, std::string& file) const {
  const auto inside = [&](std::uint32_t f) -> SourcePoint {
    file = after_.function(f).file;
    const ChangedFunction* changed = context_.matching.changed(f);
    const Range elements = after_.elements_of(f);
    for (const LockTouch& touch : context_.locks_after.touches(f))
      if (changed && changed->status[touch.element - elements.begin] != ElementStatus::Same)
        return after_.element(touch.element).at;
    if (changed)
      for (const LockTouch& touch : context_.locks_before.touches(changed->old_function))
        if (changed->new_element[touch.element - before_.elements_of(changed->old_function).begin] == kNone)
          return context_.nearest_in_after(*changed, touch.element);
    return {after_.function(f).begin_line, 1};
  };
  if (context_.matching.status(function) == FunctionStatus::Changed) return inside(function);
  std::vector<std::uint32_t> work{function};
  std::set<std::uint32_t> seen{function};
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (changed_summaries_.contains(work[i])) return inside(work[i]);
    for (const CallEdge& edge : context_.calls_after.out(work[i]))
      if (context_.calls_after.is_function(edge.callee) && context_.locks_after.relevant(edge.callee) &&
          seen.insert(edge.callee).second)
        work.push_back(edge.callee);
  }
  if (!changed_summaries_.empty()) return inside(*changed_summaries_.begin());
  return inside(function);
}

void SyncRule::compare(std::uint32_t function) {
  const std::uint32_t old_function = context_.matching.old_function(function);
  if (old_function == kNone) return;
  if (!context_.locks_after.relevant(function) && !context_.locks_before.relevant(old_function)) return;
  const bool is_changed = context_.matching.status(function) == FunctionStatus::Changed;
  if (is_changed && context_.is_test_code(after_.function(function))) return;
  const ChangedFunction* changed = context_.matching.changed(function);
  std::vector<std::uint32_t> releases_now = context_.locks_after.given_up(function);
  std::vector<std::uint32_t> releases_then = context_.locks_before.given_up(old_function);
  const auto irrelevant = [&](std::uint32_t lock) {
    return !inherited_after_.may_hold(lock, function) && !inherited_before_.may_hold(lock, old_function);
  };
  std::erase_if(releases_now, irrelevant);
  std::erase_if(releases_then, irrelevant);
  if (changed)
    for (std::uint32_t& lock : releases_then) lock = renamed_lock(lock, *changed);
  std::map<std::pair<Protection, Protection>, std::uint32_t> causes;
  const Range events = after_.events_of(function);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const auto& what = after_.event(event).what;
    const Call* call = std::get_if<Call>(&what);
    if (!std::holds_alternative<Access>(what) && !call) continue;
    if (call && call->kind == CallKind::Spawn) continue;  // the new thread holds none of these locks
    const std::uint32_t old_event = context_.matching.old_or_moved_event(event);
    if (old_event == kNone) continue;
    const Protection now = protection(names_.set(context_.locks_after.at(event)), releases_now);
    const Protection then = protection(old_locks(old_event, changed), releases_then);
    if (now == then) continue;
    auto [cause, fresh] = causes.try_emplace({then, now}, 0);
    if (fresh) {
      std::string file;
      const SourcePoint at = place_of_change(function, file);
      cause->second = marks_.add({ImpactRule::SyncChanged, describe(then, now), file, at});
    }
    if (call) marks_.callees(event, cause->second, Threads::Own);
    marks_.event(event, cause->second);
  }
}

void SyncRule::regions(const ChangedFunction& changed) {
  using Operation = std::tuple<std::uint32_t, LockAction, LockMode>;
  const Range fresh = after_.elements_of(changed.new_function),
              old = before_.elements_of(changed.old_function);
  std::map<std::uint32_t, std::multiset<Operation>> now,
      then;  // by new element; then also by removed old ones
  std::map<std::uint32_t, std::multiset<Operation>> removed;
  for (const LockTouch& touch : context_.locks_after.touches(changed.new_function))
    now[touch.element].insert({touch.lock, touch.action, touch.mode});
  for (const LockTouch& touch : context_.locks_before.touches(changed.old_function)) {
    const Operation operation{renamed_lock(touch.lock, changed), touch.action, touch.mode};
    const std::uint32_t partner = changed.new_element[touch.element - old.begin];
    (partner == kNone ? removed[touch.element] : then[partner]).insert(operation);
  }
  std::map<std::uint32_t, std::uint32_t> cause_of_lock;
  const std::string& file = after_.function(changed.new_function).file;
  const auto add = [&](const Operation& operation, const char* what, SourcePoint at) {
    auto [cause, first] = cause_of_lock.try_emplace(std::get<0>(operation), 0);
    if (first)
      cause->second =
          marks_.add({ImpactRule::SyncChanged,
                      "operation on lock " + names_.display(std::get<0>(operation)) + " " + what, file, at});
    return cause->second;
  };
  for (const auto& [element, operations] : now) {
    if (changed.status[element - fresh.begin] == ElementStatus::Same) continue;
    const auto& partner = then[element];
    if (may_be_other_element(changed, element))
      regions_.other_lock(element, add(*operations.begin(), "altered", after_.element(element).at));
    for (const Operation& operation : operations) {
      if (partner.contains(operation)) continue;
      const char* what = changed.status[element - fresh.begin] == ElementStatus::Added ? "added" : "altered";
      const std::uint32_t cause = add(operation, what, after_.element(element).at);
      if (std::get<1>(operation) == LockAction::TryAcquire) mark_after_attempts(changed, element, cause);
    }
  }
  for (const auto& [element, operations] : then) {
    if (changed.status[element - fresh.begin] == ElementStatus::Same) continue;
    for (const Operation& operation : operations)
      if (!now[element].contains(operation)) add(operation, "altered", after_.element(element).at);
  }
  for (const auto& [element, operations] : removed) {
    for (const Operation& operation : operations) {
      const std::uint32_t cause = add(operation, "removed", context_.nearest_in_after(changed, element));
      if (std::get<1>(operation) != LockAction::TryAcquire) continue;
      if (const std::uint32_t near = context_.nearest_before(changed, element); near != kNone)
        mark_after_attempts(changed, near, cause);
    }
  }
  if (!cause_of_lock.empty()) mark_region(changed, cause_of_lock);
}

/// `g(locks[0])` to `g(locks[1])`: nothing but the index differs, which no event names.
bool SyncRule::may_be_other_element(const ChangedFunction& changed, std::uint32_t element) const {
  if (changed.status[element - after_.elements_of(changed.new_function).begin] != ElementStatus::Altered ||
      context_.alteration_is_in_events(changed, element))
    return false;
  const Range events = after_.events_of_element(element);
  for (std::uint32_t event = events.begin; event < events.end; ++event)
    if (const auto* op = std::get_if<LockOp>(&after_.event(event).what))
      for (const Place& lock : op->locks)
        if (lock.derefs > 0 || lock.instance.find('[') != std::string::npos) return true;
  return false;
}

void SyncRule::mark_region(const ChangedFunction& changed,
                           const std::map<std::uint32_t, std::uint32_t>& cause_of_lock) {
  const auto cause_in = [&](const Lockset& locks) -> std::uint32_t {
    for (const Held& held : locks)
      if (const auto cause = cause_of_lock.find(held.lock); cause != cause_of_lock.end())
        return cause->second;
    return kNone;
  };
  const Range events = after_.events_of(changed.new_function);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    std::uint32_t cause = cause_in(names_.set(context_.locks_after.at(event)));
    const std::uint32_t old_event = changed.old_event[event - events.begin];
    if (cause == kNone && old_event != kNone) cause = cause_in(old_locks(old_event, &changed));
    if (cause == kNone) continue;
    const Call* call = std::get_if<Call>(&after_.event(event).what);
    if (call && call->kind != CallKind::Spawn) marks_.callees(event, cause, Threads::Own);
    marks_.event(event, cause);
  }
}

/// An unchanged function whose callees now do something else with a lock that it holds: its critical section
/// is cut in two, or no longer is.
void SyncRule::lent_regions(std::uint32_t function) {
  const std::uint32_t old_function = context_.matching.old_function(function);
  if (old_function == kNone || context_.matching.changed(function)) return;
  using Operation = std::tuple<std::uint32_t, std::uint32_t, LockAction, LockMode>;
  const auto operations = [](const Locksets& locks, const ProgramIndex& index, std::uint32_t f) {
    std::set<Operation> result;
    for (const LockTouch& touch : locks.touches(f))
      result.insert({touch.element - index.elements_of(f).begin, touch.lock, touch.action, touch.mode});
    return result;
  };
  const std::set<Operation> now = operations(context_.locks_after, after_, function),
                            then = operations(context_.locks_before, before_, old_function);
  if (now == then) return;
  std::set<std::uint32_t> locks;
  for (const Operation& operation : now)
    if (!then.contains(operation)) locks.insert(std::get<1>(operation));
  for (const Operation& operation : then)
    if (!now.contains(operation)) locks.insert(std::get<1>(operation));
  std::map<std::uint32_t, std::uint32_t> causes;
  const Range events = after_.events_of(function);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    for (const Held& held : names_.set(context_.locks_after.at(event))) {
      if (held.assumed || !locks.contains(held.lock)) continue;
      auto [cause, fresh] = causes.try_emplace(held.lock, 0);
      if (fresh) {
        std::string file;
        const SourcePoint at = place_of_change(function, file);
        cause->second = marks_.add(
            {ImpactRule::SyncChanged,
             "lock " + names_.display(held.lock) + " held, but a callee treats it otherwise now", file, at});
      }
      const Call* call = std::get_if<Call>(&after_.event(event).what);
      if (call && call->kind != CallKind::Spawn) marks_.callees(event, cause->second, Threads::Own);
      marks_.event(event, cause->second);
      break;
    }
  }
}

/// A try-lock protects a region that the must-analysis does not see: what comes behind it.
void SyncRule::mark_after_attempts(const ChangedFunction& changed, std::uint32_t element,
                                   std::uint32_t cause) {
  for (std::uint32_t behind :
       context_.flow_after(changed.new_function).elements_from(element, Direction::Forward))
    marks_.execution(behind, cause);
}

}  // namespace

void rule_sync(const ChangeContext& context, Marks& marks) { SyncRule(context, marks).run(); }

}  // namespace simrt::impact
