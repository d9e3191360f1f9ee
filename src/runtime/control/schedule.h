// The schedule of an execution: the one to follow, item by item, and the one that is taken.
#pragma once

#include <stdint.h>

#include "control/plan_view.h"
#include "control/strategy.h"
#include "simrt/format/run.h"

namespace simrt::rt::control {

class Schedule {
 public:
  void begin(const PlanView& plan);

  /// Whether there is more to follow.
  bool following() const { return next_ < count_; }
  /// Decision of the next item; UINT64_MAX when there is none.
  uint64_t next_decision() const { return following() ? items_[next_].decision : UINT64_MAX; }
  /// The next item, when it is of this kind and decision; consumes it.
  const format::ScheduleItem* take(format::ChoiceKind choice, uint64_t decision) {
    if (!following() || items_[next_].decision != decision || items_[next_].choice != choice) return nullptr;
    return &items_[next_++];
  }
  /// Looks without consuming.
  const format::ScheduleItem* peek(format::ChoiceKind choice, uint64_t decision) const {
    if (!following() || items_[next_].decision != decision || items_[next_].choice != choice) return nullptr;
    return &items_[next_];
  }
  void give_up() { next_ = count_; }
  /// Whether the item speaks of this operation.
  bool fits(const format::ScheduleItem& item, const Operation& operation) const;

  /// A departure from the default.
  void record(format::ChoiceKind choice, uint64_t decision, uint32_t thread, const Operation& operation);

 private:
  const PlanView* plan_ = nullptr;
  const format::ScheduleItem* items_ = nullptr;
  uint32_t count_ = 0, next_ = 0;
  format::RunSchedule* chunk_ = nullptr;  // being filled
};

}  // namespace simrt::rt::control
