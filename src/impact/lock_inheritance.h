// Which functions may run while a caller of theirs holds a given lock. A function that gives up a lock "of
// its caller" (DBImpl::Get unlocking a mutex that nobody but itself ever locks) loses no protection when no
// caller can hold it. Over-approximates: any path behind an acquisition counts, whatever is released on it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "impact/locksets.h"

namespace simrt::impact {

class LockInheritance {
 public:
  LockInheritance(const ProgramIndex& index, const CallGraph& calls, const Locksets& locks,
                  const LockNames& names)
      : index_(index), calls_(calls), locks_(locks), names_(names) {}

  /// True when a caller, however far up, may hold `lock` (by whatever name) around a call that leads to
  /// `function`; always for a lock known only through a parameter. Memoised; not thread-safe.
  bool may_hold(std::uint32_t lock, std::uint32_t function) const;

 private:
  std::vector<bool> callable_under(std::uint32_t lock) const;
  void add_calls_behind(std::uint32_t function, std::uint32_t lock,
                        std::vector<std::uint32_t>& callees) const;

  const ProgramIndex& index_;
  const CallGraph& calls_;
  const Locksets& locks_;
  const LockNames& names_;
  mutable std::map<std::uint32_t, std::vector<bool>> known_;
};

}  // namespace simrt::impact
