// Interned locks and locksets, shared by both versions so that they compare by number. A lock is named by its
// access path (within a function); the variable behind it serves for messages and for "may be the same lock".
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/facts.h"

namespace simrt::impact {

struct Held {
  std::uint32_t lock = 0;
  LockMode mode = LockMode::Exclusive;
  /// Not acquired here: the function releases it, so its caller must have passed it on. Kept apart, or a lock
  /// wrapper whose body got lost would look like a requirement that callers fulfil.
  bool assumed = false;
  auto operator<=>(const Held&) const = default;
};

/// Ascending by lock.
using Lockset = std::vector<Held>;

/// Adds a lock; exclusive wins over shared.
void hold(Lockset& set, Held lock);
/// Removes a lock; false when it was not held.
bool drop(Lockset& set, std::uint32_t lock);
/// What both sets guarantee: shared where the modes differ.
Lockset meet(const Lockset& a, const Lockset& b);

class LockNames {
 public:
  LockNames();
  /// `variable` may be {} (a lock known only through a parameter). Classes may share a path ("this.mu_"), not
  /// both.
  std::uint32_t lock(const std::string& path, VariableId variable, const std::string& variable_name);
  const std::string& path(std::uint32_t lock) const { return locks_[lock].path; }
  VariableId variable(std::uint32_t lock) const { return locks_[lock].variable; }
  const std::string& variable_name(std::uint32_t lock) const { return locks_[lock].variable_name; }
  /// Notes which field or global the lock object is; {} when it is reached through a pointer or a parameter.
  void add_owner(std::uint32_t lock, VariableId owner);
  /// `lock` is what `same_object` is: the same fields and globals.
  void share_owners(std::uint32_t lock, std::uint32_t same_object);
  /// False when the two are certainly different objects: their variables, or all fields and globals that they
  /// were seen to be, differ. (Every object of a home-made mutex class has the same inner variable.)
  bool may_be_one(std::uint32_t a, std::uint32_t b) const;
  /// For people: "Counter::mu_" for a lock of this object, "other.mu_" for another one's.
  std::string display(std::uint32_t lock) const;
  /// Class of a lock whose own member is the real mutex: messages name `x.mutex_` instead of `x.mutex_.mu_`.
  bool is_lockable_member(VariableId inner) const { return lockable_members_.contains(inner); }
  void set_lockable_member(VariableId inner) { lockable_members_[inner] = true; }

  std::uint32_t set(const Lockset& held);  ///< 0 = the empty set
  const Lockset& set(std::uint32_t id) const { return sets_[id]; }

 private:
  struct Lock {
    std::string path;
    VariableId variable;
    std::string variable_name;
    std::set<VariableId> owners;  ///< contains {} when anybody's
  };
  std::vector<Lock> locks_;
  std::map<std::pair<std::string, VariableId>, std::uint32_t> lock_ids_;
  std::unordered_map<VariableId, bool> lockable_members_;
  std::vector<Lockset> sets_;
  std::map<Lockset, std::uint32_t> set_ids_;
};

}  // namespace simrt::impact
