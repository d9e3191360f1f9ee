#include "impact/lock_names.h"

#include <algorithm>

namespace simrt::impact {
namespace {

auto position(Lockset& set, std::uint32_t lock) {
  return std::lower_bound(set.begin(), set.end(), lock,
                          [](const Held& held, std::uint32_t wanted) { return held.lock < wanted; });
}

}  // namespace

void hold(Lockset& set, Held lock) {
  const auto at = position(set, lock.lock);
  if (at != set.end() && at->lock == lock.lock) {
    // In which mode an assumed lock is held, nobody knows: what is acquired for certain counts.
    if (lock.mode == LockMode::Exclusive || (at->assumed && !lock.assumed)) at->mode = lock.mode;
    at->assumed = at->assumed && lock.assumed;
  } else {
    set.insert(at, lock);
  }
}

bool drop(Lockset& set, std::uint32_t lock) {
  const auto at = position(set, lock);
  if (at == set.end() || at->lock != lock) return false;
  set.erase(at);
  return true;
}

Lockset meet(const Lockset& a, const Lockset& b) {
  Lockset both;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (i->lock < j->lock) {
      ++i;
    } else if (j->lock < i->lock) {
      ++j;
    } else {
      both.push_back({i->lock, i->mode == j->mode ? i->mode : LockMode::Shared, i->assumed || j->assumed});
      ++i, ++j;
    }
  }
  return both;
}

LockNames::LockNames() {
  sets_.emplace_back();
  set_ids_.emplace(Lockset{}, 0);
}

std::uint32_t LockNames::lock(const std::string& path, VariableId variable,
                              const std::string& variable_name) {
  auto [known, fresh] = lock_ids_.try_emplace({path, variable}, static_cast<std::uint32_t>(locks_.size()));
  if (fresh) locks_.push_back({path, variable, variable_name, {}});
  return known->second;
}

void LockNames::add_owner(std::uint32_t lock, VariableId owner) { locks_[lock].owners.insert(owner); }

void LockNames::share_owners(std::uint32_t lock, std::uint32_t same_object) {
  const std::set<VariableId> owners = locks_[same_object].owners;
  locks_[lock].owners.insert(owners.begin(), owners.end());
}

bool LockNames::may_be_one(std::uint32_t a, std::uint32_t b) const {
  const Lock &x = locks_[a], &y = locks_[b];
  if (!x.variable || !y.variable) return true;
  if (x.variable != y.variable) return false;
  if (x.owners.empty() || y.owners.empty() || x.owners.contains({}) || y.owners.contains({})) return true;
  return std::any_of(x.owners.begin(), x.owners.end(),
                     [&](VariableId owner) { return y.owners.contains(owner); });
}

std::string LockNames::display(std::uint32_t lock) const {
  std::string path = locks_[lock].path;
  if (path.rfind("this.", 0) == 0) path.erase(0, 5);
  const bool own = path.size() + 5 == locks_[lock].path.size();
  const std::size_t last = path.rfind('.');
  if (last != std::string::npos && lockable_members_.contains(locks_[lock].variable))
    return path.substr(0, last);
  if (own && last == std::string::npos && !locks_[lock].variable_name.empty())
    return locks_[lock].variable_name;
  if (!path.empty() && path[0] == '@') return path.substr(1);
  return path;
}

std::uint32_t LockNames::set(const Lockset& held) {
  auto [known, fresh] = set_ids_.try_emplace(held, static_cast<std::uint32_t>(sets_.size()));
  if (fresh) sets_.push_back(held);
  return known->second;
}

}  // namespace simrt::impact
