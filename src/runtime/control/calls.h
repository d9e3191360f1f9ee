// The calls a thread is in, as far as a place in the code needs them: the innermost ones, and their hash.
// Without them all uses of a library's inline function (a lock guard, an atomic) would be one place.
#pragma once

#include <stdint.h>

namespace simrt::rt::control {

/// Owned by its thread.
class Calls {
 public:
  static constexpr uint32_t kWindow = 6;  // innermost callers that count

  /// A function was entered. Frames that a longjmp or an exception left behind lie below the new one.
  void enter(uintptr_t caller, uintptr_t stack) {
    while (depth_ > 0 && depth_ <= kMost && frames_[depth_ - 1].stack <= stack) --depth_;
    if (depth_ < kMost) frames_[depth_] = {stack, caller};
    ++depth_;
  }
  void leave() {
    if (depth_ > 0) --depth_;
  }

  /// `stack` of the innermost function; 0 = not known.
  uintptr_t innermost_frame() const { return depth_ == 0 || depth_ > kMost ? 0 : frames_[depth_ - 1].stack; }

  /// Return addresses, innermost first; at most kWindow. Returns how many.
  uint32_t innermost(uintptr_t* callers) const {
    uint32_t count = 0;
    for (uint32_t i = known(); i > 0 && count < kWindow; --i) callers[count++] = frames_[i - 1].caller;
    return count;
  }
  /// Of these; 0 = none.
  uint64_t hash() const {
    uint64_t hash = 0;
    uint32_t count = 0;
    for (uint32_t i = known(); i > 0 && count < kWindow; --i, ++count)
      hash = (hash ^ frames_[i - 1].caller) * 0x9e3779b97f4a7c15u ^ (hash >> 29);
    return hash;
  }

 private:
  static constexpr uint32_t kMost = 512;
  struct Frame {
    uintptr_t stack, caller;
  };
  uint32_t known() const { return depth_ < kMost ? depth_ : kMost; }

  uint32_t depth_ = 0;
  Frame frames_[kMost] = {};
};

}  // namespace simrt::rt::control
