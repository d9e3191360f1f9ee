// Maps: taking one for a thread, sharing when the file is full, and writing a finished one out as a list.
#include "cover/recorder.h"

namespace simrt::runtime {

using format::CoveredRecord;
using format::MapRecord;
using format::ModuleKind;

namespace {

bool cell_is_set(const Module& module, const char* cells, uint64_t slot) {
  return cells[module.kind == ModuleKind::Guards ? slot * module.stride : slot] != 0;
}

// CoveredRecord's item for a covered slot.
uint32_t item_of(const Module& module, const char* cells, uint64_t slot) {
  if (module.kind == ModuleKind::Guards) return static_cast<uint32_t>(slot);
  return static_cast<uint32_t>(slot * module.stride + (static_cast<unsigned char>(cells[slot]) & 0x7fu));
}

// Calls `visit(slot)` for every covered slot, ascending; eight bytes without a hit are skipped at once.
template <class Visit>
void for_each_covered(const Module& module, const char* cells, Visit visit) {
  const uint64_t step = module.kind == ModuleKind::Guards ? 8 / module.stride : 8;
  const auto* words = reinterpret_cast<const uint64_t*>(cells);
  const uint64_t count = (module.slots + step - 1) / step;
  for (uint64_t w = 0; w < count; ++w) {
    if (words[w] == 0) continue;
    for (uint64_t slot = w * step; slot < (w + 1) * step && slot < module.slots; ++slot) {
      if (cell_is_set(module, cells, slot)) visit(slot);
    }
  }
}

void clear(const Module& module, char* cells) {
  auto* words = reinterpret_cast<uint64_t*>(cells);
  for (uint64_t w = 0; w < module.cells_bytes / 8; ++w) {
    if (words[w] != 0) words[w] = 0;  // reading does not dirty a page, writing would
  }
}

}  // namespace

intptr_t Module::pointer_to(MapRecord* map) const {
  if (map == nullptr) return 0;
  const auto cells = reinterpret_cast<intptr_t>(payload_of(map));
  if (kind == ModuleKind::Guards) return cells - reinterpret_cast<intptr_t>(abi->guards_begin);
  return cells - static_cast<intptr_t>(image.text_begin / stride);
}

void Module::point(uintptr_t thread_pointer, MapRecord* map) const {
  auto* slot = reinterpret_cast<intptr_t*>(thread_pointer + static_cast<uintptr_t>(abi->map_offset));
  __atomic_store_n(slot, pointer_to(map), __ATOMIC_RELEASE);
}

MapRecord* Recorder::new_map(Module& module, uint32_t owner, uint64_t reserve) {
  auto* map = file_.append<MapRecord>(module.cells_bytes, reserve);
  if (map == nullptr) return nullptr;
  map->module = module.index;
  map->owner = owner;
  map->cells_bytes = module.cells_bytes;
  file_.publish();
  return map;
}

MapRecord* Recorder::shared_map(Module& module) {
  if (module.shared == nullptr) module.shared = new_map(module, format::kTraceShared, 0);
  if (module.shared == nullptr) file_.set_flag(format::kTraceLost);
  return module.shared;
}

// The thread's map of the module; the shared one when the file is full; null when not even that exists.
MapRecord* Recorder::take_map(Module& module, Thread& thread) {
  if (!thread.maps.extend(module.index + 1)) return shared_map(module);
  MapRecord*& map = thread.maps[module.index];
  if (map != nullptr) return map;  // the module was closed and is open again
  if (module.free_maps.size() > 0) {
    map = module.free_maps.pop();
    __atomic_store_n(&map->owner, thread.index, __ATOMIC_RELEASE);
    return map;
  }
  map = new_map(module, thread.index, reserve_);
  if (map != nullptr) return map;
  file_.set_flag(format::kTraceOverflow);
  return shared_map(module);
}

bool Recorder::write_covered(Module& module, const Thread& thread, MapRecord* map) {
  const char* cells = payload_of(map);
  uint32_t count = 0;
  for_each_covered(module, cells, [&](uint64_t) { ++count; });
  if (count == 0) return true;
  auto* record = file_.append<CoveredRecord>(count * sizeof(uint32_t), reserve_);
  if (record == nullptr) return false;
  record->module = module.index;
  record->thread = thread.index;
  record->capacity = count;
  auto* items = reinterpret_cast<uint32_t*>(payload_of(record));
  uint32_t n = 0;
  for_each_covered(module, cells, [&](uint64_t slot) {
    if (n < count) items[n++] = item_of(module, cells, slot);
  });
  record->count = n;
  file_.publish();
  return true;
}

// The thread has ended: its map becomes free, unless what it says cannot be written elsewhere.
void Recorder::give_map(Module& module, Thread& thread) {
  MapRecord* map = thread.maps[module.index];
  if (map == nullptr || !write_covered(module, thread, map)) return;
  // From here on the list speaks for the thread; a crash before the owner changes only says it twice.
  clear(module, payload_of(map));
  __atomic_store_n(&map->owner, format::kTraceNone, __ATOMIC_RELEASE);
  module.free_maps.push(map);
}

bool Recorder::has_guard_hits(const Module& module) const {
  if (module.kind != ModuleKind::Guards || module.abi == nullptr) return false;
  for (const uint32_t* guard = module.abi->guards_begin; guard != module.abi->guards_end; ++guard) {
    if (*guard != 0) return true;
  }
  return false;
}

void Recorder::fold_guards(Module& module, MapRecord* map) {
  if (module.kind != ModuleKind::Guards || module.abi == nullptr) return;
  auto* guards = reinterpret_cast<char*>(const_cast<uint32_t*>(module.abi->guards_begin));
  for (uint64_t slot = 0; slot < module.slots; ++slot) {
    char& cell = guards[slot * module.stride];
    if (cell == 0) continue;
    if (map != nullptr) payload_of(map)[slot * module.stride] = cell;
    cell = 0;
  }
}

}  // namespace simrt::runtime
