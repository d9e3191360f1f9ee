// Threads that a directed strategy keeps from going on, each for a bounded time.
#pragma once

#include <stdint.h>

#include "control/strategy.h"

namespace simrt::rt::control {

class Hold {
 public:
  static constexpr uint64_t kDefaultBound = 50000;

  void begin(uint64_t bound) {
    bound_ = bound == 0 ? kDefaultBound : bound;
    given_up_ = false;
    for (auto& since : since_) since = 0;
    for (auto& pc : free_) pc = 0;
  }

  /// The thread at this operation is to wait. False when it has waited long enough: let it go.
  bool keep(const Candidate& candidate, uint64_t now) {
    const uint32_t slot = candidate.thread % kMaxThreads;
    if (free_[slot] == candidate.operation.pc) return false;
    free_[slot] = 0;
    if (since_[slot] == 0) since_[slot] = now;
    if (now - since_[slot] <= bound_) return true;
    given_up_ = true;
    let_go(candidate);
    return false;
  }
  /// Its next operation may happen; afterwards the thread can be held again.
  void let_go(const Candidate& candidate) {
    free_[candidate.thread % kMaxThreads] = candidate.operation.pc;
    since_[candidate.thread % kMaxThreads] = 0;
  }
  /// It makes the operation now.
  void passed(const Candidate& candidate) {
    free_[candidate.thread % kMaxThreads] = 0;
    since_[candidate.thread % kMaxThreads] = 0;
  }
  void note_given_up() { given_up_ = true; }
  bool given_up() const { return given_up_; }

 private:
  static constexpr uint32_t kMaxThreads = 1024;
  uint64_t bound_ = kDefaultBound;
  bool given_up_ = false;
  uint64_t since_[kMaxThreads] = {};
  uintptr_t free_[kMaxThreads] = {};
};

/// One of the candidates whose `open` flag is set, at random; the running one last if it yields. kNobody when
/// none is open.
inline uint32_t choose_open(const Decision& decision, const bool* open, Random& random) {
  uint32_t count = 0, last = kNobody;
  for (uint32_t i = 0; i < decision.count; ++i) {
    if (!open[i]) continue;
    if (decision.yields && i == decision.running) {
      last = i;
    } else {
      ++count;
    }
  }
  if (count == 0) return last;
  uint64_t at = random.below(count);
  for (uint32_t i = 0; i < decision.count; ++i) {
    if (!open[i] || i == last) continue;
    if (at-- == 0) return i;
  }
  return last;
}

}  // namespace simrt::rt::control
