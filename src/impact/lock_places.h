// Which lock a place of one function is, and which of its own locks a lock of a callee is: access paths with
// the variable behind them. Knows nothing of what is held.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "impact/lock_flow.h"

namespace simrt::impact {

/// A lock of any object ("*.mu"): releasing it gives up every lock of its variable, and it is never claimed
/// to be acquired.
bool is_any_object(const std::string& path);

class LockPlaces {
 public:
  LockPlaces(const LockContext& context, std::uint32_t function);

  const Frame& frame() const { return frame_; }
  /// The lock at a place; of a home-made mutex class the member that matters.
  std::uint32_t at(const Place& place);
  std::uint32_t named(const std::string& path, VariableId variable);
  /// The same lock of whatever object.
  std::uint32_t any_object_of(std::uint32_t lock);
  /// The caller's name for a lock of its callee's; nullopt when it has none.
  std::optional<std::uint32_t> in_caller(std::uint32_t callee_lock, const Call& call, std::uint32_t callee);

 private:
  VariableId owner_of(const std::string& path, VariableId variable) const;

  const LockContext& context_;
  const ProgramIndex& index_;
  Frame frame_;
};

}  // namespace simrt::impact
