// The events of an execution, written to the run file as they happen.
#pragma once

#include <stdint.h>

#include "control/operation.h"
#include "simrt/format/run.h"

namespace simrt::rt::control {

class EventLog {
 public:
  void begin(bool wanted) {
    wanted_ = wanted;
    chunk_ = nullptr;
    last_ = nullptr;
    written_ = 0;
  }
  bool wanted() const { return wanted_; }
  void write(uint32_t thread, const Operation& operation, uint64_t enabled, bool decision);
  /// The last event turned out to be of another kind (a try that failed).
  void amend(EventKind kind) {
    if (last_ != nullptr) last_->kind = static_cast<uint8_t>(kind);
  }

 private:
  bool wanted_ = false;
  format::RunEvents* chunk_ = nullptr;
  format::RunEvent* last_ = nullptr;
  uint64_t written_ = 0;
};

}  // namespace simrt::rt::control
