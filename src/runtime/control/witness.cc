#include "control/witness.h"

#include "control/stack.h"
#include "emit/run_file.h"

namespace simrt::rt::control {
namespace {

uint32_t write_held(const Thread& thread) {
  const uint32_t id = run_file.next_id(format::RunKind::LockSet);
  const auto* written = run_file.append<format::RunLockSet>(
      thread.held.size() * sizeof(format::HeldLock), [&](format::RunLockSet& record) {
        record.id = id;
        record.count = static_cast<uint32_t>(thread.held.size());
        auto* locks = items_of<format::HeldLock>(&record);
        for (size_t i = 0; i < thread.held.size(); ++i) {
          const Held& held = thread.held[i];
          locks[i] = {held.lock, held.pc, format::kRunNone, held.shared ? 1u : 0u};
        }
      });
  return written != nullptr ? id : format::kRunNone;
}

format::FindingAccess access_of(const Thread& thread) {
  const Operation& operation = thread.operation;
  format::FindingAccess access = {};
  access.pc = operation.pc;
  access.address = operation.object;
  access.size = operation.size;
  access.stack = write_stack(thread);
  access.lock_set = write_held(thread);
  access.thread = static_cast<uint16_t>(thread.index);
  access.kind = static_cast<uint8_t>(operation.kind);
  access.order = operation.order;
  return access;
}

}  // namespace

void write_witness(const Thread& first, const Thread& second) {
  const format::FindingAccess one = access_of(first), other = access_of(second);
  const uint32_t id = format::kEngineFinding | run_file.next_id(format::RunKind::Race);
  run_file.append<format::RunRace>(0, [&](format::RunRace& record) {
    record.id = id;
    record.flags = format::kFindingWitnessed;
    record.variable = format::kRunNone;
    record.times = 1;
    record.first = one;
    record.second = other;
  });
}

}  // namespace simrt::rt::control
