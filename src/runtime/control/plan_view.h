// The plan with its sites as run-time addresses.
#pragma once

#include <stdint.h>

#include "control/strategy.h"
#include "detect/watch.h"
#include "simrt/format/plan.h"

namespace simrt::rt::control {

struct PlanView {
  format::PlanHeader header = {};
  Settings settings;
  detect::Watch watch;
  const format::ScheduleItem* schedule = nullptr;
  uint32_t schedule_count = 0;

  /// Reads the plan of the run file. False when a chunk is not legal.
  bool read();
  /// Sites of modules that have been loaded since.
  void resolve_again() { read(); }
  /// Run-time address of a site of the plan; 0 when its module is not loaded.
  uintptr_t address_of(uint32_t module, uint64_t offset) const;

 private:
  static constexpr uint32_t kMaxModules = 256;
  uintptr_t biases_[kMaxModules] = {};
  bool loaded_[kMaxModules] = {};
  uint32_t modules_ = 0;
};

}  // namespace simrt::rt::control
