// The coverage hooks of one module: linked statically into every instrumented executable and shared object,
// all symbols hidden, so that a hit is a direct call (or inlined) and one store into the thread's own map.
#include <elf.h>

#include "cover/module_abi.h"
#include "hooks/cell.h"
#include "simrt/format/trace.h"
#include "sys/arch.h"

using simrt::runtime::thread_pointer;

extern "C" {
// Made by the linker; absent when the module has no such section.
[[gnu::weak, gnu::visibility("hidden")]] extern uint32_t __start___sancov_guards[];
[[gnu::weak, gnu::visibility("hidden")]] extern uint32_t __stop___sancov_guards[];
[[gnu::weak, gnu::visibility("hidden")]] extern uintptr_t __start___sancov_pcs[];
[[gnu::weak, gnu::visibility("hidden")]] extern uintptr_t __stop___sancov_pcs[];
[[gnu::weak, gnu::visibility("hidden")]] extern const char __ehdr_start[];

constinit thread_local intptr_t simrt_guard_map = 0;
[[gnu::visibility("hidden"), gnu::tls_model("initial-exec")]] constinit thread_local intptr_t simrt_site_map =
    0;

void __sanitizer_cov_trace_pc();
}

namespace {

constexpr uint64_t kSiteStride = 4;  // shorter than any call instruction: one site a cell

constinit simrt_module guards = {};
constinit simrt_module sites = {};

void open_guards() {
  if (guards.state != nullptr || +__start___sancov_guards == +__stop___sancov_guards) return;
  guards.kind = static_cast<uint32_t>(simrt::format::ModuleKind::Guards);
  guards.elf_header = __ehdr_start;
  guards.guards_begin = __start___sancov_guards;
  guards.guards_end = __stop___sancov_guards;
  guards.table_begin = __start___sancov_pcs;
  guards.table_end = __stop___sancov_pcs;
  guards.map_offset = static_cast<intptr_t>(reinterpret_cast<uintptr_t>(&simrt_guard_map) - thread_pointer());
  simrt_module_open_1(&guards);
}

// The first hit of a thread without a map: announces the module once, then stores where the runtime says.
[[gnu::noinline, gnu::cold]] void hit_site_slowly(uintptr_t site) {
  if (sites.state == nullptr && sites.closed == 0) {
    sites.kind = static_cast<uint32_t>(simrt::format::ModuleKind::CallSites);
    sites.elf_header = __ehdr_start;
    sites.hook = reinterpret_cast<const void*>(&__sanitizer_cov_trace_pc);
    sites.map_offset = static_cast<intptr_t>(reinterpret_cast<uintptr_t>(&simrt_site_map) - thread_pointer());
    simrt_module_open_1(&sites);
  }
  intptr_t map = simrt_site_map;
  if (map == 0) map = reinterpret_cast<intptr_t>(__atomic_load_n(&sites.shared_map, __ATOMIC_ACQUIRE));
  if (map == 0) return;
  reinterpret_cast<uint8_t*>(map)[site / kSiteStride] = static_cast<uint8_t>(0x80 | site % kSiteStride);
}

[[gnu::constructor(101)]] void open_module() { open_guards(); }

// Runs behind the destructors of the module's own static objects.
[[gnu::destructor(101)]] void close_module() {
  if (guards.state != nullptr) simrt_module_close_1(&guards);
  if (sites.state != nullptr) simrt_module_close_1(&sites);
}

}  // namespace

extern "C" {

// clang -fsanitize-coverage=trace-pc-guard,pc-table. The compiler's constructors call the two *_init, which
// may come before ours; the ranges they pass are the module's sections.
[[gnu::visibility("hidden")]] void __sanitizer_cov_trace_pc_guard(uint32_t* guard) {
  simrt::runtime::mark(guard);
}
[[gnu::visibility("hidden")]] void __sanitizer_cov_trace_pc_guard_init(uint32_t*, uint32_t*) {
  open_guards();
}
[[gnu::visibility("hidden")]] void __sanitizer_cov_pcs_init(const uintptr_t*, const uintptr_t*) {}

// gcc -fsanitize-coverage=trace-pc.
[[gnu::visibility("hidden")]] void __sanitizer_cov_trace_pc() {
  const auto site = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  const intptr_t map = simrt_site_map;
  if (map == 0) [[unlikely]] {
    hit_site_slowly(site);
    return;
  }
  reinterpret_cast<uint8_t*>(map)[site / kSiteStride] = static_cast<uint8_t>(0x80 | site % kSiteStride);
}
}
