#include "detect/patch.h"

#if defined(__x86_64__)

#include <link.h>
#include <sys/mman.h>

#include "sys/arch.h"
#include "sys/imports.h"
#include "sys/text.h"

namespace simrt::rt::detect {
namespace {

enum class Hook : uint8_t { None, Access, Entry, Exit };

bool starts_with(const char* text, const char* start) {
  return runtime::equal(text, start, runtime::length(start));
}

// By name. Volatile, unaligned and ranges are accesses as well.
Hook hook_of(const char* name) {
  if (!starts_with(name, "__tsan_")) return Hook::None;
  name += 7;
  if (starts_with(name, "func_entry")) return Hook::Entry;
  if (starts_with(name, "func_exit")) return Hook::Exit;
  static constexpr const char* kAccesses[] = {"read", "write", "unaligned_", "volatile_", "vptr_"};
  for (const char* start : kAccesses)
    if (starts_with(name, start)) return Hook::Access;
  return Hook::None;
}

// Addresses of slots or stubs with the hook behind them. Few: there are under 60 hooks.
struct Table {
  static constexpr uint32_t kMost = 512;
  uintptr_t address[kMost];
  Hook hook[kMost];
  uint32_t count = 0;
  uintptr_t lowest = UINTPTR_MAX, highest = 0;

  void add(uintptr_t at, Hook what) {
    if (count == kMost) return;
    address[count] = at;
    hook[count++] = what;
    if (at < lowest) lowest = at;
    if (at > highest) highest = at;
  }
  Hook find(uintptr_t at) const {
    if (at < lowest || at > highest) return Hook::None;
    for (uint32_t i = 0; i < count; ++i) {
      if (address[i] == at) return hook[i];
    }
    return Hook::None;
  }
};

uintptr_t target(const uint8_t* operand) {
  int32_t distance;
  __builtin_memcpy(&distance, operand, sizeof distance);
  return reinterpret_cast<uintptr_t>(operand) + 4 + static_cast<uintptr_t>(static_cast<intptr_t>(distance));
}

bool is_endbr64(const uint8_t* p) { return p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa; }

struct Text {
  uint8_t* begin;
  uint8_t* end;
};

// `jmp *slot`: with everything that a call of the stub may aim at.
void find_stubs(Text text, const Table& slots, Table& stubs) {
  for (uint8_t* p = text.begin; p + 6 <= text.end; ++p) {
    if (p[0] != 0xff || p[1] != 0x25) continue;
    const Hook hook = slots.find(target(p + 2));
    if (hook == Hook::None) continue;
    uint8_t* start = p;
    if (start > text.begin && start[-1] == 0xf2) --start;  // bnd
    if (start - text.begin >= 4 && is_endbr64(start - 4)) start -= 4;
    if (reinterpret_cast<uintptr_t>(start) % 8 != 0) continue;  // a tail call, not a stub
    stubs.add(reinterpret_cast<uintptr_t>(start), hook);
    if (start != p) stubs.add(reinterpret_cast<uintptr_t>(p), hook);
  }
}

bool is_stub(const Table& stubs, const uint8_t* p) {
  return stubs.find(reinterpret_cast<uintptr_t>(p)) != Hook::None;
}

struct Patcher {
  const Watch& watch;
  bool calls;
  Patched result;

  bool keeps(Hook hook, const uint8_t* return_address) const {
    if (hook != Hook::Access) return !calls;
    return watch.has(reinterpret_cast<uintptr_t>(return_address));
  }

  // The instruction at `p`, `size` bytes, calls `hook` (or jumps to it as its last act).
  uint32_t replace(uint8_t* p, uint32_t size, Hook hook, bool jump) {
    if (hook == Hook::None || (jump && hook != Hook::Exit)) return 1;
    if (keeps(hook, p + size)) {
      ++result.kept;
      return size;
    }
    ++result.calls;
    static constexpr uint8_t kNop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    static constexpr uint8_t kNop6[] = {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00};
    for (uint32_t i = 0; i < size; ++i) p[i] = jump ? uint8_t{0xcc} : size == 5 ? kNop5[i] : kNop6[i];
    if (jump) p[0] = 0xc3;
    return size;
  }

  void patch(Text text, const Table& slots, const Table& stubs) {
    for (uint8_t* p = text.begin; p + 6 <= text.end;) {
      if (p[0] == 0xe8 || p[0] == 0xe9) {
        p += replace(p, 5, stubs.find(target(p + 1)), p[0] == 0xe9);
      } else if (p[0] == 0xff && (p[1] == 0x15 || p[1] == 0x25) && !is_stub(stubs, p)) {
        p += replace(p, 6, slots.find(target(p + 2)), p[1] == 0x25);
      } else {
        ++p;
      }
    }
  }
};

constexpr uint32_t kMostModules = 1024;
uintptr_t seen[kMostModules];
uint32_t seen_count = 0;

bool first_sight(uintptr_t base) {
  for (uint32_t i = 0; i < seen_count; ++i) {
    if (seen[i] == base) return false;
  }
  if (seen_count == kMostModules) return false;
  seen[seen_count++] = base;
  return true;
}

bool protect(Text text, int protection) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(text.begin) & ~uintptr_t{4095};
  const uintptr_t end = (reinterpret_cast<uintptr_t>(text.end) + 4095) & ~uintptr_t{4095};
  return runtime::raw_syscall(SYS_mprotect, static_cast<long>(begin), static_cast<long>(end - begin),
                              protection) == 0;
}

int patch_module(dl_phdr_info* info, size_t, void* argument) {
  auto& patcher = *static_cast<Patcher*>(argument);
  // The program headers' own address: bias alone is 0 for several.
  if (!first_sight(reinterpret_cast<uintptr_t>(info->dlpi_phdr))) return 0;
  Table slots, stubs;
  runtime::Imports(*info).for_each([&](const char* name, uintptr_t* slot) {
    const Hook hook = hook_of(name);
    if (hook != Hook::None) slots.add(reinterpret_cast<uintptr_t>(slot), hook);
  });
  if (slots.count == 0) return 0;
  ++patcher.result.modules;
  const auto each_text = [&](auto act) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      auto* begin = reinterpret_cast<uint8_t*>(info->dlpi_addr + segment.p_vaddr);
      act(Text{begin, begin + segment.p_memsz});
    }
  };
  each_text([&](Text text) { find_stubs(text, slots, stubs); });
  each_text([&](Text text) {
    if (!protect(text, PROT_READ | PROT_WRITE | PROT_EXEC)) return;  // forbidden here: the hooks ask instead
    patcher.patch(text, slots, stubs);
    protect(text, PROT_READ | PROT_EXEC);
  });
  return 0;
}

}  // namespace

Patched patch_out(const Watch& watch, bool calls) {
  Patcher patcher = {watch, calls, {}};
  dl_iterate_phdr(&patch_module, &patcher);
  return patcher.result;
}

}  // namespace simrt::rt::detect

#else

namespace simrt::rt::detect {
Patched patch_out(const Watch&, bool) { return {}; }
}  // namespace simrt::rt::detect

#endif
