#include "impact/lock_state.h"

#include <algorithm>

namespace simrt::impact {
namespace {

auto place_of(std::vector<Guard>& guards, const std::string& path) {
  return std::lower_bound(guards.begin(), guards.end(), path,
                          [](const Guard& guard, const std::string& wanted) { return guard.path < wanted; });
}

Guard meet_guards(const Guard& a, const Guard& b) {
  Guard both = a;
  for (const Held& lock : b.locks) hold(both.locks, lock);
  if (a.owns != b.owns || a.locks != b.locks) both.owns = Ownership::Maybe;
  return both;
}

}  // namespace

Guard* LockState::guard(const std::string& path) {
  const auto at = place_of(guards, path);
  return at != guards.end() && at->path == path ? &*at : nullptr;
}

void LockState::set_guard(Guard guard) {
  const auto at = place_of(guards, guard.path);
  if (at != guards.end() && at->path == guard.path) {
    *at = std::move(guard);
  } else {
    guards.insert(at, std::move(guard));
  }
}

std::optional<Guard> LockState::take_guard(const std::string& path) {
  const auto at = place_of(guards, path);
  if (at == guards.end() || at->path != path) return std::nullopt;
  Guard taken = std::move(*at);
  guards.erase(at);
  return taken;
}

LockState meet(const LockState& a, const LockState& b) {
  LockState both{meet(a.held, b.held), {}};
  auto i = a.guards.begin(), j = b.guards.begin();
  const auto lone = [&](Guard guard) {
    if (guard.owns == Ownership::Yes) guard.owns = Ownership::Maybe;
    both.guards.push_back(std::move(guard));
  };
  while (i != a.guards.end() || j != b.guards.end()) {
    if (j == b.guards.end() || (i != a.guards.end() && i->path < j->path)) {
      lone(*i++);
    } else if (i == a.guards.end() || j->path < i->path) {
      lone(*j++);
    } else {
      both.guards.push_back(meet_guards(*i++, *j++));
    }
  }
  return both;
}

}  // namespace simrt::impact
