// Cooperative cancellation: a token that long work polls or waits on, and the scope that connects it to
// SIGINT and SIGTERM. Knows nothing of what is being interrupted.
#pragma once

#include <atomic>

namespace simrt {

/// A one-way "please stop" flag. All members are thread-safe; request() is also async-signal-safe.
class InterruptToken {
 public:
  InterruptToken();
  ~InterruptToken();
  InterruptToken(const InterruptToken&) = delete;
  InterruptToken& operator=(const InterruptToken&) = delete;

  bool requested() const noexcept { return requested_.load(std::memory_order_acquire); }
  void request() noexcept;
  /// A descriptor that is readable once a stop is requested, for poll(2); never read from it. -1 when the
  /// process is out of descriptors: then only requested() works.
  int descriptor() const noexcept { return descriptor_; }

 private:
  std::atomic<bool> requested_{false};
  int descriptor_ = -1;
};

/// While it lives, the first SIGINT or SIGTERM requests a stop of the token and the second one ends the
/// process as the signal would by default. At most one scope may live at a time (a second one is inert);
/// the previous handlers come back with the destructor. A signal that was ignored stays ignored.
class InterruptScope {
 public:
  explicit InterruptScope(InterruptToken& token);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  bool active_ = false;
};

}  // namespace simrt
