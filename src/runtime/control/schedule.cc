#include "control/schedule.h"

#include "emit/run_file.h"
#include "emit/run_modules.h"

namespace simrt::rt::control {

using format::ScheduleItem;

void Schedule::begin(const PlanView& plan) {
  plan_ = &plan;
  items_ = plan.schedule;
  count_ = plan.schedule_count;
  next_ = 0;
  chunk_ = nullptr;
}

bool Schedule::fits(const ScheduleItem& item, const Operation& operation) const {
  if (item.kind != EventKind{} && item.kind != operation.kind) return false;
  return item.module == format::kPlanNone || plan_->address_of(item.module, item.offset) == operation.pc;
}

void Schedule::record(format::ChoiceKind choice, uint64_t decision, uint32_t thread,
                      const Operation& operation) {
  constexpr uint32_t kCapacity = 126;
  if (chunk_ == nullptr || chunk_->count == chunk_->capacity) {
    chunk_ = run_file.append<format::RunSchedule>(kCapacity * sizeof(ScheduleItem),
                                                  [](auto& record) { record.capacity = kCapacity; });
    if (chunk_ == nullptr) return;
  }
  ScheduleItem& item = items_of<ScheduleItem>(chunk_)[chunk_->count];
  item.decision = decision;
  item.thread = thread;
  item.choice = choice;
  item.kind = operation.kind;
  const LoadedModule* module = operation.pc == 0 ? nullptr : module_of(operation.pc);
  item.module = module != nullptr ? module->index : format::kRunNone;
  item.offset = module != nullptr ? operation.pc - module->bias : 0;
  __atomic_store_n(&chunk_->count, chunk_->count + 1, __ATOMIC_RELEASE);
}

}  // namespace simrt::rt::control
