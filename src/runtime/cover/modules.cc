// Modules: what an instrumented executable or shared object is, and its table of program counters.
#include <new>

#include "cover/recorder.h"

namespace simrt::runtime {

using format::ModuleKind;

namespace {

template <class T>
T* make() {
  void* memory = allocate(sizeof(T));
  return memory == nullptr ? nullptr : new (memory) T();
}

void read_guard_table(Module& module, const simrt_module& abi) {
  struct Entry {  // written by clang
    uintptr_t pc, flags;
  };
  const auto* entry = reinterpret_cast<const Entry*>(abi.table_begin);
  const auto* end = reinterpret_cast<const Entry*>(abi.table_end);
  if (static_cast<size_t>(end - entry) != module.slots) return;  // built without pc-table
  for (; entry != end; ++entry) {
    // The optimiser removed a block whose address is 1.
    const uint64_t offset = entry->pc < module.image.begin ? 0 : entry->pc - module.image.bias;
    if (!module.table.push(offset << 1 | (entry->flags & 1))) return;
  }
}

// gcc makes no table. Calls of the hook are direct, and the hook is in the same module, so every one is an e8
// byte (bl on AArch64) whose displacement leads there: no disassembly, and a chance of 2^-32 a byte to be
// wrong.
void scan_call_sites(Module& module, const simrt_module& abi) {
  const auto hook = reinterpret_cast<uintptr_t>(abi.hook);
#if defined(__x86_64__)
  const auto* text = reinterpret_cast<const unsigned char*>(module.image.text_begin);
  const auto* end = reinterpret_cast<const unsigned char*>(module.image.text_end);
  for (; end - text >= 5; ++text) {
    if (*text != 0xe8) continue;
    int32_t displacement;
    __builtin_memcpy(&displacement, text + 1, sizeof displacement);
    const uintptr_t back = reinterpret_cast<uintptr_t>(text) + 5;
    if (back + static_cast<uintptr_t>(static_cast<intptr_t>(displacement)) != hook) continue;
    if (!module.table.push((back - module.image.bias) << 1)) return;
  }
#else
  for (uintptr_t at = module.image.text_begin; at + 4 <= module.image.text_end; at += 4) {
    const uint32_t word = *reinterpret_cast<const uint32_t*>(at);
    if ((word & 0xfc000000u) != 0x94000000u) continue;
    const auto displacement = static_cast<intptr_t>(static_cast<int32_t>(word << 6) >> 4);
    if (at + static_cast<uintptr_t>(displacement) != hook) continue;
    if (!module.table.push((at + 4 - module.image.bias) << 1)) return;
  }
#endif
}

void name(Module& module, uintptr_t address) {
  Mapping mapping;
  if (find_mapping(address, mapping)) module.path = mapping.path;
}

}  // namespace

// Who the module is and how large its maps are, from its own memory. The object is the scratch one: it is
// overwritten by the next call unless the caller keeps it.
Module* Recorder::describe(simrt_module* abi) {
  if (scratch_ == nullptr) scratch_ = make<Module>();
  Module* module = scratch_;
  if (module == nullptr) return nullptr;
  *module = Module{};
  if (!read_image(abi->elf_header, module->image)) return nullptr;
  module->kind = static_cast<ModuleKind>(abi->kind);
  name(*module, reinterpret_cast<uintptr_t>(abi->elf_header));
  module->build_id_bytes =
      module->image.build_id_bytes < sizeof module->build_id ? module->image.build_id_bytes : 0;
  for (uint32_t i = 0; i < module->build_id_bytes; ++i) module->build_id[i] = module->image.build_id[i];
  module->stride = 4;
  if (module->kind == ModuleKind::Guards) {
    module->slots = static_cast<uint32_t>(abi->guards_end - abi->guards_begin);
    module->cells_bytes = (uint64_t{module->slots} * module->stride + 7) & ~uint64_t{7};
  } else {
    module->image.text_begin &= ~uintptr_t{7};
    module->slots =
        static_cast<uint32_t>((module->image.text_end - module->image.text_begin) / module->stride + 1);
    module->cells_bytes = (uint64_t{module->slots} + 7) & ~uint64_t{7};
  }
  return module;
}

// The same file, opened before and closed since.
Module* Recorder::find_known(const Module& description) {
  for (Module* module : modules_) {
    if (module->abi == nullptr && module->kind == description.kind && module->slots == description.slots &&
        module->path.size == description.path.size &&
        equal(module->path.text, description.path.text, description.path.size) &&
        module->build_id_bytes == description.build_id_bytes &&
        equal(reinterpret_cast<const char*>(module->build_id),
              reinterpret_cast<const char*>(description.build_id), description.build_id_bytes)) {
      return module;
    }
  }
  return nullptr;
}

bool Recorder::open_module(simrt_module* abi) {
  const KeepErrno keep;
  start();
  adopt_unknown_child();
  const Guard guard(lock_);
  if (progress_ == Progress::Off) abi->closed = 1;  // never ask again
  if (abi->state != nullptr || abi->closed != 0) return false;
  Module* described = describe(abi);
  if (described == nullptr) return false;
  Module* module = find_known(*described);
  if (module != nullptr) {
    module->image = described->image;  // another address this time
  } else {
    module = described;
    scratch_ = nullptr;
    if (module->kind == ModuleKind::Guards) {
      read_guard_table(*module, *abi);
    } else {
      scan_call_sites(*module, *abi);
    }
    module->index = static_cast<uint32_t>(modules_.size());
    if (!modules_.push(module)) return false;
    if (recording_ && !emit(*module)) file_.set_flag(format::kTraceLost);
  }
  module->abi = abi;
  abi->state = module;
  if (recording_) {
    for (Thread* thread : live_) module->point(thread->pointer, take_map(*module, *thread));
    begin_module(*module);
  }
  return module->image.executable;
}

// What ran before the module was announced (earlier constructors) ran on the thread that loads it.
void Recorder::begin_module(Module& module) {
  if (module.kind == ModuleKind::Guards) {
    Thread* self = current_thread();
    fold_guards(module, self != nullptr ? take_map(module, *self) : shared_map(module));
  } else if (module.abi != nullptr) {
    // Threads without a map cannot leave their hits in guards: gcc has none.
    auto* shared = reinterpret_cast<uint8_t*>(module.pointer_to(shared_map(module)));
    __atomic_store_n(&module.abi->shared_map, shared, __ATOMIC_RELEASE);
  }
}

void Recorder::close_module(simrt_module* abi) {
  const KeepErrno keep;
  adopt_unknown_child();
  const Guard guard(lock_);
  auto* module = static_cast<Module*>(abi->state);
  const bool exiting = load_acquire(exiting_);
  if (module == nullptr || exiting || module->image.executable) return;
  abi->closed = 1;
  __atomic_store_n(&abi->shared_map, nullptr, __ATOMIC_RELEASE);
  for (Thread* thread : live_) module->point(thread->pointer, nullptr);
  if (recording_)
    fold_guards(*module, current_thread() != nullptr ? take_map(*module, *current_thread()) : nullptr);
  module->abi = nullptr;
}

// Module and PC table chunks, and the reserve for its shared map.
bool Recorder::emit(Module& module) {
  const size_t path_bytes = module.path.size;
  auto* record = file_.append<format::ModuleRecord>(path_bytes + module.build_id_bytes);
  if (record == nullptr) return false;
  record->index = module.index;
  record->kind = module.kind;
  record->load_bias = module.image.bias;
  record->text_start = module.image.text_begin - module.image.bias;
  record->slots = module.slots;
  record->stride = module.stride;
  record->path_bytes = static_cast<uint32_t>(path_bytes);
  record->build_id_bytes = module.build_id_bytes;
  char* out = payload_of(record);
  for (size_t i = 0; i < path_bytes; ++i) *out++ = module.path.text[i];
  for (uint32_t i = 0; i < module.build_id_bytes; ++i) *out++ = static_cast<char>(module.build_id[i]);
  file_.publish();
  reserve_ += module.cells_bytes + 2 * format::kTraceAlign;

  if (module.table.size() == 0) return true;
  auto* table = file_.append<format::PcTableRecord>(module.table.size() * sizeof(uint64_t));
  if (table == nullptr) return false;
  table->module = module.index;
  table->count = static_cast<uint32_t>(module.table.size());
  auto* entries = reinterpret_cast<uint64_t*>(payload_of(table));
  for (size_t i = 0; i < module.table.size(); ++i) entries[i] = module.table[i];
  file_.publish();
  return true;
}

Module* Recorder::instrumented_module_at(uintptr_t address) {
  for (Module* module : modules_) {
    if (module->abi != nullptr && address >= module->image.begin && address < module->image.end)
      return module;
  }
  return nullptr;
}

// Any module that holds the address, by the name of its file; added to the trace when it is new.
Module* Recorder::module_at(uintptr_t address) {
  for (Module* module : modules_) {
    if (module->kind == ModuleKind::Plain && address >= module->image.begin && address < module->image.end) {
      return module;
    }
  }
  Module* module = make<Module>();
  Mapping mapping;
  if (module == nullptr || !find_mapping(address, mapping)) return nullptr;
  module->path = mapping.path;
  module->image.bias = mapping.begin - mapping.file_offset;
  module->image.begin = mapping.begin;
  module->image.end = mapping.end;
  module->index = static_cast<uint32_t>(modules_.size());
  if (!modules_.push(module) || !emit(*module)) return nullptr;
  return module;
}

}  // namespace simrt::runtime
