// The state of the lock dataflow: locks held, and what each lock guard manages.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "impact/lock_names.h"

namespace simrt::impact {

enum class Ownership : std::uint8_t { No, Maybe, Yes };

struct Guard {
  std::string path;
  Lockset locks;
  Ownership owns = Ownership::No;
  bool adopted = false;  ///< the locks were to be held before: it releases what it was given
  bool operator==(const Guard&) const = default;
};

struct LockState {
  Lockset held;
  std::vector<Guard> guards;  ///< ascending by path
  bool operator==(const LockState&) const = default;

  Guard* guard(const std::string& path);
  void set_guard(Guard guard);
  std::optional<Guard> take_guard(const std::string& path);
};

/// What holds whichever of the two paths was taken.
LockState meet(const LockState& a, const LockState& b);

}  // namespace simrt::impact
