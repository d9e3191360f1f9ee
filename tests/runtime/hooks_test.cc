// The hooks of one module, called directly, with the recorder replaced by this file.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "cover/module_abi.h"
#include "hooks/cell.h"
#include "simrt/format/trace.h"

extern "C" {
void __sanitizer_cov_trace_pc_guard(std::uint32_t* guard);
void __sanitizer_cov_trace_pc();
void simrt_module_open_1(simrt_module* module);
void simrt_module_close_1(simrt_module* module);
}

namespace {
std::vector<simrt_module*> opened;
std::uint8_t shared_cells[64 * 1024 * 1024];
/// Below all code of this program, wherever it was loaded: the hook's callers lie on either side of it.
std::uintptr_t text_start() {
  constexpr std::uintptr_t kMega = 1 << 20;
  return (reinterpret_cast<std::uintptr_t>(&__sanitizer_cov_trace_pc) & ~(kMega - 1)) - 32 * kMega;
}
}  // namespace

void simrt_module_open_1(simrt_module* module) {
  opened.push_back(module);
  module->state = module;
  module->shared_map =
      reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(shared_cells) - text_start() / 4);
}
void simrt_module_close_1(simrt_module*) {}

namespace {

TEST(Hooks, GuardWithoutMapKeepsItsHitItself) {
  std::uint32_t guards[4] = {};
  ASSERT_EQ(simrt_guard_map, 0);
  __sanitizer_cov_trace_pc_guard(&guards[2]);
  EXPECT_EQ(guards[0], 0u);
  EXPECT_EQ(guards[1], 0u);
  EXPECT_EQ(guards[2], 1u);
  EXPECT_EQ(guards[3], 0u);
}

TEST(Hooks, GuardGoesToTheThreadsMap) {
  std::uint32_t guards[4] = {}, mine[4] = {}, theirs[4] = {};
  simrt_guard_map = reinterpret_cast<std::intptr_t>(mine) - reinterpret_cast<std::intptr_t>(guards);
  std::thread other([&] {
    EXPECT_EQ(simrt_guard_map, 0);
    simrt_guard_map = reinterpret_cast<std::intptr_t>(theirs) - reinterpret_cast<std::intptr_t>(guards);
    __sanitizer_cov_trace_pc_guard(&guards[3]);
  });
  other.join();
  __sanitizer_cov_trace_pc_guard(&guards[0]);
  __sanitizer_cov_trace_pc_guard(&guards[0]);
  simrt_guard_map = 0;
  EXPECT_EQ(mine[0], 1u);
  EXPECT_EQ(mine[3], 0u);
  EXPECT_EQ(theirs[0], 0u);
  EXPECT_EQ(theirs[3], 1u);
  EXPECT_EQ(guards[0] + guards[3], 0u);
}

// A map is found where the recorder says; the cell keeps the bits that the division by four drops.
TEST(Hooks, CallSiteIsAnnouncedOnceAndKeepsItsAddress) {
  for (int i = 0; i < 3; ++i) __sanitizer_cov_trace_pc();
  ASSERT_EQ(opened.size(), 1u);
  EXPECT_EQ(opened[0]->kind, static_cast<std::uint32_t>(simrt::format::ModuleKind::CallSites));
  EXPECT_NE(opened[0]->elf_header, nullptr);
  std::vector<std::uintptr_t> sites;
  for (std::size_t i = 0; i < sizeof shared_cells; ++i) {
    if (shared_cells[i] != 0) sites.push_back(text_start() + i * 4 + (shared_cells[i] & 0x7f));
  }
  ASSERT_FALSE(sites.empty());
  ASSERT_LE(sites.size(), 3u);  // the loop may be unrolled
  for (const std::uintptr_t site : sites) {
    const auto call = reinterpret_cast<const unsigned char*>(site) - 5;
#if defined(__x86_64__)
    EXPECT_EQ(call[0], 0xe8);
#endif
  }
}

}  // namespace
