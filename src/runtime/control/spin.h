// Tells a loop that only looks at memory from other reading: the same place in the code looks at the same
// address again and again while the thread changes nothing.
#pragma once

#include <stdint.h>

namespace simrt::rt::control {

class Spin {
 public:
  /// One look. True when the thread seems to spin: let others go on.
  bool look(uintptr_t pc, uintptr_t address) {
    if (pc == pc_ && address == address_) {
      others_ = 0;
      if (++repeats_ < kRepeats) return false;
      repeats_ = 0;
      return true;
    }
    if (++others_ >= kWindow) {  // not part of a loop, or of a longer one: watch this place
      pc_ = pc;
      address_ = address;
      others_ = 0;
      repeats_ = 0;
    }
    return false;
  }
  /// The thread changed something.
  void reset() { repeats_ = 0; }

  // Loops of up to kWindow looks are found. A bounded loop that merely looks often costs a needless switch.
  static constexpr uint32_t kRepeats = 50;

 private:
  static constexpr uint32_t kWindow = 128;
  uintptr_t pc_ = 0, address_ = 0;
  uint32_t repeats_ = 0, others_ = 0;
};

}  // namespace simrt::rt::control
