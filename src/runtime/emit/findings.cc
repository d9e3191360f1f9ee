#include "emit/findings.h"

#include "detect/detector.h"
#include "detect/patch.h"
#include "detect/race.h"

namespace simrt::rt {

using detect::Evidence;
using format::EventKind;
using format::kRunNone;
using format::RunKind;

constinit FindingWriter finding_writer;

namespace {

constexpr uint32_t kDefaultLimit = 1024;
// Stacks cost most of what is left when few sites are watched; the witness that verification makes has them.
constexpr bool kPatchCalls = true;

uint32_t write_stack(uintptr_t pc, const uintptr_t* outer, uint32_t frames) {
  if (pc == 0) return kRunNone;
  const uint32_t id = run_file.next_id(RunKind::Stack);
  const auto* record =
      run_file.append<format::RunStack>((frames + 1) * sizeof(uint64_t), [&](format::RunStack& stack) {
        stack.id = id;
        stack.frame_count = frames + 1;
        auto* items = items_of<uint64_t>(&stack);
        items[0] = pc;
        for (uint32_t i = 0; i < frames; ++i) items[i + 1] = outer[i];
      });
  return record == nullptr ? kRunNone : id;
}

uint32_t write_stack(const detect::LockHeld& lock) { return write_stack(lock.pc, lock.stack, lock.frames); }

uint32_t write_locks(const detect::Side& side) {
  if (!side.locks_known) return kRunNone;
  uint32_t stacks[8];
  for (uint32_t i = 0; i < side.locks; ++i) stacks[i] = write_stack(side.held[i]);
  const uint32_t id = run_file.next_id(RunKind::LockSet);
  const auto* record = run_file.append<format::RunLockSet>(
      side.locks * sizeof(format::HeldLock), [&](format::RunLockSet& set) {
        set.id = id;
        set.count = side.locks;
        auto* items = items_of<format::HeldLock>(&set);
        for (uint32_t i = 0; i < side.locks; ++i)
          items[i] = {side.held[i].lock, side.held[i].pc, stacks[i], side.held[i].shared};
      });
  return record == nullptr ? kRunNone : id;
}

EventKind kind_of(bool write, bool atomic) {
  if (atomic) return write ? EventKind::AtomicStore : EventKind::AtomicLoad;
  return write ? EventKind::Write : EventKind::Read;
}

format::FindingAccess access_of(const detect::Side& side) {
  format::FindingAccess access = {};
  access.pc = side.pc;
  access.address = side.address;
  access.size = side.size;
  access.stack = write_stack(side.pc, side.stack, side.frames);
  access.lock_set = write_locks(side);
  access.thread = static_cast<uint16_t>(side.thread);
  access.kind =
      static_cast<uint8_t>(side.release_of_memory ? EventKind::Free : kind_of(side.write, side.atomic));
  return access;
}

uint32_t flags_of(const detect::Race& race) {
  uint32_t flags = format::kFindingPredicted;
  if (race.evidence == Evidence::Witnessed) flags = format::kFindingWitnessed;
  if (race.evidence == Evidence::Possible) flags |= format::kFindingHandedOver;
  if (race.first.release_of_memory || race.second.release_of_memory) flags |= format::kFindingFreedMemory;
  return flags;
}

}  // namespace

void FindingWriter::start(uint32_t detectors, uint32_t limit) {
  detectors_ = detectors;
  limit_ = limit == 0 ? kDefaultLimit : limit;
  if (limit_ > kMost) limit_ = kMost;
}

void FindingWriter::begin_execution() {
  races_ = cycles_ = triples_ = variables_ = witnessed_ = 0;
  for (auto& known : known_) known = {};
  for (auto& triple : triple_) triple = nullptr;
}

bool FindingWriter::room(uint32_t written) {
  if (written < limit_) return true;
  run_file.set_flag(format::kRunFindingsCut);
  return false;
}

// The block of the heap, or else (a global, a stack: the host knows) the accessed bytes.
uint32_t FindingWriter::variable_of(const detect::Race& race) {
  const bool heap = race.block.size != 0;
  const uint64_t address = heap ? race.block.address : race.second.address;
  for (uint32_t i = 0; i < variables_; ++i) {
    if (variable_[i].address == address) return variable_[i].id;
  }
  if (variables_ == kMost) return kRunNone;
  const uint32_t id = run_file.next_id(RunKind::Variable);
  const uint32_t stack = heap ? write_stack(race.block.pc, race.block.stack, race.block.frames) : kRunNone;
  const auto* record = run_file.append<format::RunVariable>(0, [&](format::RunVariable& variable) {
    variable.id = id;
    variable.thread = heap ? race.block.thread : kRunNone;
    variable.address = address;
    variable.size = heap ? race.block.size : race.second.size;
    variable.pc = heap ? race.block.pc : 0;
    variable.stack = stack;
  });
  if (record == nullptr) return kRunNone;
  variable_[variables_++] = {address, id};
  return id;
}

void FindingWriter::race(const detect::Race& race) {
  if (race.evidence == Evidence::Witnessed) {
    latest_[witnessed_ % kLatest] = {race.first.pc, race.second.pc};
    __atomic_store_n(&witnessed_, witnessed_ + 1, __ATOMIC_RELEASE);
  }
  const uint32_t wanted = race.evidence == Evidence::Witnessed
                              ? format::kDetectRaces | format::kDetectPotentialRaces
                              : format::kDetectPotentialRaces;
  if ((detectors_ & wanted) == 0 || race.id >= kMost) return;
  Known& known = known_[race.id];
  if (known.record == nullptr && !room(races_)) return;
  const format::FindingAccess first = access_of(race.first), second = access_of(race.second);
  if (known.record != nullptr) {  // the same sites with more evidence
    known.record->flags = flags_of(race);
    known.record->first = first;
    known.record->second = second;
    ++known.record->times;
    return;
  }
  known.variable = variable_of(race);
  const uint32_t id = run_file.next_id(RunKind::Race);
  known.record = run_file.append<format::RunRace>(0, [&](format::RunRace& record) {
    record.id = id;
    record.flags = flags_of(race);
    record.variable = known.variable;
    record.times = 1;
    record.first = first;
    record.second = second;
  });
  ++races_;
}

void FindingWriter::racy_site(const detect::RacySite& site) {
  if ((detectors_ & format::kDetectRacySites) == 0 || site.race >= kMost) return;
  const Known& known = known_[site.race];
  if (known.record == nullptr) return;
  run_file.append<format::RunRacySites>(sizeof(format::RacySite), [&](format::RunRacySites& record) {
    record.variable = known.variable;
    record.count = 1;
    *items_of<format::RacySite>(&record) = {site.pc,
                                            site.address,
                                            site.size,
                                            static_cast<uint16_t>(site.thread),
                                            static_cast<uint8_t>(kind_of(site.write, site.atomic)),
                                            0};
  });
}

void FindingWriter::lock_cycle(const detect::LockCycle& cycle) {
  if ((detectors_ & format::kDetectLockCycles) == 0 || !room(cycles_)) return;
  uint32_t stacks[detect::kLongestCycle][2];
  for (uint32_t i = 0; i < cycle.count; ++i) {
    stacks[i][0] = write_stack(cycle.edges[i].held);
    stacks[i][1] = write_stack(cycle.edges[i].wanted);
  }
  const uint32_t id = run_file.next_id(RunKind::LockCycle);
  run_file.append<format::RunLockCycle>(cycle.count * sizeof(format::LockEdge),
                                        [&](format::RunLockCycle& record) {
                                          record.id = id;
                                          record.flags = format::kFindingPredicted;
                                          record.count = cycle.count;
                                          record.times = 1;
                                          auto* items = items_of<format::LockEdge>(&record);
                                          for (uint32_t i = 0; i < cycle.count; ++i) {
                                            const detect::CycleEdge& edge = cycle.edges[i];
                                            items[i].held = edge.held.lock;
                                            items[i].wanted = edge.wanted.lock;
                                            items[i].held_pc = edge.held.pc;
                                            items[i].wanted_pc = edge.wanted.pc;
                                            items[i].held_stack = stacks[i][0];
                                            items[i].wanted_stack = stacks[i][1];
                                            items[i].lock_set = kRunNone;
                                            items[i].thread = static_cast<uint16_t>(edge.thread);
                                            items[i].held_shared = edge.held.shared;
                                            items[i].wanted_shared = edge.wanted.shared;
                                          }
                                        });
  ++cycles_;
}

void FindingWriter::unserialisable(const detect::Unserialisable& triple) {
  if ((detectors_ & format::kDetectAtomicity) == 0 || !room(triples_)) return;
  format::FindingAccess accesses[4] = {};
  for (uint32_t i = 0; i < triple.count; ++i) accesses[i] = access_of(triple.accesses[i]);
  const uint32_t id = run_file.next_id(RunKind::Atomicity);
  auto* const written = run_file.append<format::RunAtomicity>(0, [&](format::RunAtomicity& record) {
    record.id = id;
    record.flags = format::kFindingPredicted;
    record.pattern = triple.pattern;
    record.count = triple.count;
    record.variables = triple.pattern < 9 ? 1 : 2;
    record.times = 1;
    for (uint32_t i = 0; i < triple.count; ++i) record.accesses[i] = accesses[i];
  });
  ++triples_;
  if (triple.id < kMost) triple_[triple.id] = written;
}

void FindingWriter::doubt(uint32_t unserialisable) {
  if (unserialisable < kMost && triple_[unserialisable] != nullptr)
    triple_[unserialisable]->flags |= format::kFindingLoop;
}

bool start_detector(const format::PlanHeader& plan, bool partial, const detect::Watch* watch) {
  finding_writer.start(plan.detectors, plan.findings_limit);
  detect::Options options;
  options.sink = &finding_writer;
  options.lock_cycles = (plan.detectors & format::kDetectLockCycles) != 0;
  options.atomicity = (plan.detectors & format::kDetectAtomicity) != 0;
  options.partial = partial;
  options.every_site = partial || watch != nullptr || plan.mode == format::RunMode::Control;
  options.watch = watch;
  if (!detect::start(options)) return false;
  if (watch != nullptr && plan.mode == format::RunMode::Detect) detect::patch_out(*watch, kPatchCalls);
  return true;
}

void patch_new_modules() {
  if (detect::options.watch != nullptr && detect::is_alone())
    detect::patch_out(*detect::options.watch, kPatchCalls);
}

}  // namespace simrt::rt
