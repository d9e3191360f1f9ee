// The events of an execution, written to the run file as they happen.
#pragma once

#include <stdint.h>

#include "control/operation.h"
#include "control/thread.h"
#include "simrt/format/run.h"

namespace simrt::rt::control {

class EventLog {
 public:
  void begin(bool wanted) {
    wanted_ = wanted;
    chunk_ = nullptr;
    last_ = nullptr;
    written_ = 0;
    known_count_ = 0;
    if (wanted)
      for (auto& hash : known_) hash = 0;
  }
  bool wanted() const { return wanted_; }
  /// `thread` made, or is about to make, the operation.
  void write(const Thread& thread, const Operation& operation, uint64_t enabled, bool decision);
  /// The last event turned out to be of another kind (a try that failed).
  void amend(EventKind kind) {
    if (last_ != nullptr) last_->kind = static_cast<uint8_t>(kind);
  }
  /// RunEvent::value of the last event, an atomic access.
  void note_value(uint32_t hashes) {
    if (last_ != nullptr) last_->value = hashes;
  }

 private:
  static constexpr uint32_t kKnown = 8192;  // call paths; half full, it is emptied: they are written again
  void write_calls(const Thread& thread, uint64_t hash);

  bool wanted_ = false;
  format::RunEvents* chunk_ = nullptr;
  format::RunEvent* last_ = nullptr;
  uint64_t written_ = 0;
  uint32_t known_count_ = 0;
  uint64_t known_[kKnown] = {};  // hashes of call paths that are in the file
};

}  // namespace simrt::rt::control
