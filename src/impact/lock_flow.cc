#include "impact/lock_flow.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>

#include "impact/lock_places.h"
#include "impact/lock_state.h"

namespace simrt::impact {
namespace {

/// Bound on what a summary names; beyond it a lock is that of any object (LockPlaces).
constexpr std::size_t kMaxReleases = 24;

/// Callers can name these; a lock or guard that is a local of the callee is nobody else's.
bool visible_to_callers(const std::string& path) { return !path.empty() && path[0] != 'l'; }

class FunctionFlow {
 public:
  FunctionFlow(const LockContext& context, std::uint32_t function)
      : context_(context),
        index_(context.index),
        function_(function),
        places_(context, function),
        frame_(places_.frame()) {}

  LockFlow run() {
    LockState entry;
    solve(entry);
    record();
    // What it releases, it must have been given: look again with those locks held at the entry.
    if (!released_.empty()) {
      const std::set<std::uint32_t> released = released_;
      for (std::uint32_t lock : released)
        if (!is_any_object(context_.names.path(lock))) hold(entry.held, {lock, LockMode::Exclusive, true});
      solve(entry);
      record();
      released_.insert(released.begin(), released.end());
    }
    flow_.gives_up.assign(released_.begin(), released_.end());
    flow_.summary = summarise();
    return std::move(flow_);
  }

 private:
  void solve(const LockState& entry);
  void record();
  LockSummary summarise();
  std::vector<std::uint32_t> bounded(const std::set<std::uint32_t>& locks);

  void transfer(LockState& state, std::uint32_t event);
  void apply(LockState& state, const LockOp& op, std::uint32_t element);
  void apply(LockState& state, const Call& call, std::uint32_t event);
  Lockset apply_one(LockState& state, const Call& call, std::uint32_t event, std::uint32_t callee);
  void lend(LockState& state, std::uint32_t lock, std::uint32_t element);
  void release_by_call(LockState& state, const Call& call, std::uint32_t event, std::uint32_t callee);
  std::optional<Held> held_after_call(const Held& lock, const Call& call, std::uint32_t callee,
                                      LockState& at_call);
  void acquire_by_call(LockState& state, const Lockset& acquired, std::uint32_t element);
  void release(LockState& state, std::uint32_t lock);
  void drop_same_variable(LockState& state, VariableId variable) const;
  void release_guard(LockState& state, Guard& guard);
  void guard_operation(LockState& state, const LockOp& op, std::uint32_t element);

  void touch(std::uint32_t element, std::uint32_t lock, LockAction action, LockMode mode, bool lent = false);

  const LockContext& context_;
  const ProgramIndex& index_;
  std::uint32_t function_;
  LockPlaces places_;
  const Frame& frame_;
  std::vector<std::optional<LockState>> in_;
  std::set<std::uint32_t> released_, lent_;  ///< the callers': for good, and for the time of a call
  Lockset returned_;  ///< acquired by the call before, for a guard that is initialised with its result
  bool recording_ = false;
  LockFlow flow_;
};

void FunctionFlow::solve(const LockState& entry) {
  const FunctionFacts& facts = index_.function(function_);
  in_.assign(facts.blocks.size(), std::nullopt);
  std::vector<bool> queued(facts.blocks.size(), false);
  std::deque<std::uint32_t> work;
  const auto flow_into = [&](std::uint32_t block, const LockState& state) {
    LockState next = in_[block] ? meet(*in_[block], state) : state;
    if (in_[block] && *in_[block] == next) return;
    in_[block] = std::move(next);
    if (!queued[block]) queued[block] = true, work.push_back(block);
  };
  const std::uint32_t first = index_.block_position(function_, facts.entry);
  if (first != kNone) flow_into(first, entry);
  std::size_t steps = 0;
  const std::size_t limit = 64 * (facts.blocks.size() + 1);  // lattice height in practice is a handful
  while (!work.empty() && ++steps < limit) {
    const std::uint32_t block = work.front();
    work.pop_front();
    queued[block] = false;
    LockState state = *in_[block];
    const Range elements = index_.elements_of_block(function_, block);
    for (std::uint32_t element = elements.begin; element < elements.end; ++element) {
      const Range events = index_.events_of_element(element);
      for (std::uint32_t event = events.begin; event < events.end; ++event) transfer(state, event);
    }
    for (const Edge& edge : facts.blocks[block].successors) {
      const std::uint32_t target = index_.block_position(function_, edge.target);
      if (target != kNone && edge.kind != EdgeKind::Unreachable) flow_into(target, state);
    }
  }
  // Not settled: nothing is certain. Does not happen with reducible locking; never claim a lock then.
  if (!work.empty()) in_.assign(facts.blocks.size(), LockState{});
}

void FunctionFlow::record() {
  flow_ = {};
  released_.clear();
  lent_.clear();
  recording_ = true;
  const Range all = index_.events_of(function_);
  flow_.at_event.assign(all.size(), 0);
  for (std::uint32_t block = 0; block < in_.size(); ++block) {
    LockState state = in_[block].value_or(LockState{});  // catch blocks have no predecessor: nothing held
    const Range elements = index_.elements_of_block(function_, block);
    for (std::uint32_t element = elements.begin; element < elements.end; ++element) {
      const Range events = index_.events_of_element(element);
      for (std::uint32_t event = events.begin; event < events.end; ++event) {
        flow_.at_event[event - all.begin] = context_.names.set(state.held);
        transfer(state, event);
      }
    }
  }
  recording_ = false;
}

LockSummary FunctionFlow::summarise() {
  LockSummary summary;
  std::set<std::uint32_t> lent = lent_, released;
  const std::uint32_t exit = index_.block_position(function_, index_.function(function_).exit);
  const Lockset at_exit = exit != kNone && in_[exit] ? in_[exit]->held : Lockset{};
  const auto held_again = [&](std::uint32_t lock) {
    return std::any_of(at_exit.begin(), at_exit.end(), [&](const Held& held) {
      return held.lock == lock && held.mode == LockMode::Exclusive;
    });
  };
  for (std::uint32_t lock : released_) (held_again(lock) ? lent : released).insert(lock);
  for (std::uint32_t lock : released) lent.erase(lock);
  for (const Held& held : at_exit) {
    const std::string& path = context_.names.path(held.lock);
    if (visible_to_callers(path) && !is_any_object(path) && !lent.contains(held.lock))
      summary.acquires.push_back(held);
  }
  summary.releases = bounded(released);
  summary.lends = bounded(lent);
  return summary;
}

/// The locks themselves, or, where they are too many to name, any object's lock of their variables.
std::vector<std::uint32_t> FunctionFlow::bounded(const std::set<std::uint32_t>& locks) {
  if (locks.size() <= kMaxReleases) return {locks.begin(), locks.end()};
  std::set<std::uint32_t> merged;
  for (std::uint32_t lock : locks) {
    const std::string& path = context_.names.path(lock);
    const bool member = path.find('.') != std::string::npos;
    merged.insert(member ? places_.any_object_of(lock) : lock);
  }
  return {merged.begin(), merged.end()};
}

void FunctionFlow::transfer(LockState& state, std::uint32_t event) {
  const auto& what = index_.event(event).what;
  if (const auto* op = std::get_if<LockOp>(&what)) {
    apply(state, *op, index_.element_of(event));
  } else if (const auto* call = std::get_if<Call>(&what)) {
    apply(state, *call, event);
  }
}

void FunctionFlow::apply(LockState& state, const LockOp& op, std::uint32_t element) {
  switch (op.action) {
    case LockAction::Acquire:
      for (const Place& place : op.locks) {
        hold(state.held, {places_.at(place), op.mode});
        touch(element, places_.at(place), op.action, op.mode);
      }
      break;
    case LockAction::TryAcquire:  // held on the success path only: not certain
      for (const Place& place : op.locks) touch(element, places_.at(place), op.action, op.mode);
      break;
    case LockAction::Release:
      for (const Place& place : op.locks) {
        release(state, places_.at(place));
        touch(element, places_.at(place), op.action, op.mode);
      }
      break;
    case LockAction::Assume:  // an annotation is a promise, not an effect
      break;
    default:
      guard_operation(state, op, element);
  }
}

void FunctionFlow::guard_operation(LockState& state, const LockOp& op, std::uint32_t element) {
  const std::string path = frame_.path(op.guard);
  const bool adopts = op.action == LockAction::GuardAdopt;
  if (adopts || op.action == LockAction::GuardBind || op.action == LockAction::GuardDefer) {
    Guard guard{path, {}, op.action == LockAction::GuardDefer ? Ownership::No : Ownership::Yes, adopts};
    for (const Place& place : op.locks) {
      const Held lock{places_.at(place), op.mode};
      hold(guard.locks, lock);
      if (guard.owns == Ownership::Yes && !adopts) hold(state.held, lock);
      touch(element, lock.lock, op.action, op.mode);
    }
    state.set_guard(std::move(guard));
    return;
  }
  if (op.action == LockAction::GuardMove) {
    std::optional<Guard> moved = state.take_guard(frame_.path(op.source));
    if (!moved && !returned_.empty()) moved = Guard{{}, returned_, Ownership::Yes};
    if (!moved) return;
    moved->path = path;
    state.set_guard(std::move(*moved));
    return;
  }
  Guard* guard = state.guard(path);
  if (guard) {
    for (const Held& lock : guard->locks) touch(element, lock.lock, op.action, lock.mode);
    if (op.action == LockAction::GuardRelease) return release_guard(state, *guard);
    for (const Held& lock : guard->locks) hold(state.held, lock);
    guard->owns = Ownership::Yes;
    guard->adopted = false;
  } else if (visible_to_callers(path)) {
    // A guard handed in: stands for whatever it manages at the caller.
    const std::uint32_t stand_in = places_.named(path, op.guard.base);
    touch(element, stand_in, op.action, op.mode);
    if (op.action == LockAction::GuardRelease) return release(state, stand_in);
    hold(state.held, {stand_in, op.mode});
  }
}

void FunctionFlow::release(LockState& state, std::uint32_t lock) {
  if (drop(state.held, lock)) return;
  // Not known to be held by this name: it may be any held lock of the same variable.
  drop_same_variable(state, context_.names.variable(lock));
  if (recording_ && visible_to_callers(context_.names.path(lock))) released_.insert(lock);
}

void FunctionFlow::release_guard(LockState& state, Guard& guard) {
  if (guard.owns != Ownership::No) {
    for (const Held& lock : guard.locks) {
      if (guard.adopted) {
        release(state, lock.lock);
      } else {
        drop(state.held, lock.lock);
      }
    }
  }
  guard.owns = Ownership::No;
}

/// Whichever function is called: what holds after every one of them.
void FunctionFlow::apply(LockState& state, const Call& call, std::uint32_t event) {
  if (call.kind != CallKind::Direct && call.kind != CallKind::Virtual) return;
  const std::span<const CallEdge> edges = context_.calls.edges_of(event, function_);
  if (std::all_of(edges.begin(), edges.end(), [&](const CallEdge& edge) {
        return !context_.calls.is_function(edge.callee) || context_.summary(edge.callee).trivial();
      })) {
    if (!edges.empty()) returned_.clear();
    return;  // nearly every call
  }
  const LockState at_call = state;
  std::optional<LockState> after;
  std::optional<Lockset> acquired;
  bool constructor = false;
  for (const CallEdge& edge : edges) {
    if (!context_.calls.is_function(edge.callee)) continue;
    LockState mine = at_call;
    const Lockset got = apply_one(mine, call, event, edge.callee);
    acquired = acquired ? meet(*acquired, got) : got;
    after = after ? meet(*after, mine) : std::move(mine);
    constructor = constructor || index_.function(edge.callee).has(kConstructor);
  }
  if (!after) return;
  state = std::move(*after);
  returned_ = *acquired;
  // A constructor that returns with a lock held is a scoped lock; its destructor gives it back.
  const std::string object =
      constructor && !acquired->empty() && call.receiver ? frame_.path(*call.receiver) : std::string();
  if (!object.empty()) state.set_guard({object, *acquired, Ownership::Yes});
}

/// The effect of one callee; returns what it has acquired for its caller.
Lockset FunctionFlow::apply_one(LockState& state, const Call& call, std::uint32_t event,
                                std::uint32_t callee) {
  const LockSummary& summary = context_.summary(callee);
  Lockset acquired;
  if (summary.trivial()) return acquired;
  LockState at_call = state;
  for (std::uint32_t lock : summary.lends)
    if (const auto here = places_.in_caller(lock, call, callee)) lend(state, *here, index_.element_of(event));
  release_by_call(state, call, event, callee);
  for (const Held& lock : summary.acquires) {
    if (const auto held = held_after_call(lock, call, callee, at_call)) hold(acquired, *held);
  }
  acquire_by_call(state, acquired, index_.element_of(event));
  return acquired;
}

void FunctionFlow::release_by_call(LockState& state, const Call& call, std::uint32_t event,
                                   std::uint32_t callee) {
  const std::uint32_t element = index_.element_of(event);
  const LockSummary& summary = context_.summary(callee);
  if (summary.releases.empty()) return;
  if (index_.function(callee).has(kDestructor) && call.receiver) {
    if (Guard* scoped = state.guard(frame_.path(*call.receiver))) {
      for (const Held& lock : scoped->locks) touch(element, lock.lock, LockAction::Release, lock.mode);
      return release_guard(state, *scoped);
    }
  }
  for (std::uint32_t lock : summary.releases) {
    const auto here = places_.in_caller(lock, call, callee);
    if (!here) {  // a lock that the caller has no name for may be any of the same variable
      drop_same_variable(state, context_.names.variable(lock));
      continue;
    }
    touch(element, *here, LockAction::Release, LockMode::Exclusive);
    if (Guard* guard = state.guard(context_.names.path(*here))) {
      release_guard(state, *guard);
    } else {
      release(state, *here);
    }
  }
}

/// The callee gives the lock up for a while: held, or not, as before when it returns, whatever its name here.
void FunctionFlow::lend(LockState& state, std::uint32_t lock, std::uint32_t element) {
  touch(element, lock, LockAction::Release, LockMode::Exclusive, true);
  touch(element, lock, LockAction::Acquire, LockMode::Exclusive, true);
  const std::string& path = context_.names.path(lock);
  const bool known = state.guard(path) || std::any_of(state.held.begin(), state.held.end(),
                                                      [&](const Held& held) { return held.lock == lock; });
  if (recording_ && !known && visible_to_callers(path)) lent_.insert(lock);
}

/// A lock that the callee's summary acquires, as the caller holds it then. What the callee only passes back
/// from its own caller is held exactly if, and in the mode in which, it was held at the call.
std::optional<Held> FunctionFlow::held_after_call(const Held& lock, const Call& call, std::uint32_t callee,
                                                  LockState& at_call) {
  const auto here = places_.in_caller(lock.lock, call, callee);
  if (!here) return std::nullopt;
  if (!lock.assumed) return Held{*here, lock.mode};
  if (const Guard* guard = at_call.guard(context_.names.path(*here)))
    return guard->owns == Ownership::Yes ? std::optional(Held{*here, lock.mode}) : std::nullopt;
  for (const Held& held : at_call.held)
    if (held.lock == *here)
      return Held{*here, held.mode == lock.mode ? held.mode : LockMode::Shared, held.assumed};
  return std::nullopt;
}

void FunctionFlow::acquire_by_call(LockState& state, const Lockset& acquired, std::uint32_t element) {
  for (const Held& lock : acquired) {
    touch(element, lock.lock, LockAction::Acquire, lock.mode);
    Guard* guard = state.guard(context_.names.path(lock.lock));
    if (!guard) {
      hold(state.held, lock);
      continue;
    }
    for (const Held& managed : guard->locks) hold(state.held, managed);
    guard->owns = Ownership::Yes;
  }
}

void FunctionFlow::drop_same_variable(LockState& state, VariableId variable) const {
  if (!variable) return;
  std::erase_if(state.held, [&](const Held& held) { return context_.names.variable(held.lock) == variable; });
}

void FunctionFlow::touch(std::uint32_t element, std::uint32_t lock, LockAction action, LockMode mode,
                         bool lent) {
  const LockTouch touched{element, lock, action, mode, lent};
  if (recording_ && (flow_.touches.empty() || !(flow_.touches.back() == touched)))
    flow_.touches.push_back(touched);
}

}  // namespace

LockFlow lock_flow(const LockContext& context, std::uint32_t function) {
  return FunctionFlow(context, function).run();
}

}  // namespace simrt::impact
