#include "testing/tool_execution.h"

#include <algorithm>

#include "support/files.h"
#include "testing/elf_symbols.h"

namespace simrt::testing {

void ToolExecution::module(const std::string& path, std::uint64_t bias) {
  for (const ExecutionModule& known : execution_.modules)
    if (known.name.path == path && known.bias == bias) return;
  ExecutionModule module;
  module.name.path = path;
  module.bias = bias;
  module.begin = bias;
  module.end = bias;
  execution_.modules.push_back(std::move(module));
}

std::uint32_t ToolExecution::stack(std::vector<std::uint64_t> pcs) {
  if (pcs.empty()) return format::kRunNone;
  const auto [known, fresh] = stacks_.try_emplace(pcs, static_cast<std::uint32_t>(execution_.stacks.size()));
  if (fresh) execution_.stacks.push_back(std::move(pcs));
  return known->second;
}

void ToolExecution::thread(std::uint32_t index, std::uint32_t parent, std::vector<std::uint64_t> created) {
  for (ExecutionThread& known : execution_.threads) {
    if (known.index != index) continue;
    if (known.frames.empty()) known.frames = std::move(created), known.parent = parent;
    return;
  }
  ExecutionThread thread;
  thread.index = index;
  thread.parent = parent;
  thread.frames = std::move(created);
  execution_.threads.push_back(std::move(thread));
  execution_.thread_count = std::max(execution_.thread_count, index + 1);
}

std::uint32_t ToolExecution::lock_set(std::vector<format::HeldLock> locks) {
  execution_.lock_sets.push_back(std::move(locks));
  return static_cast<std::uint32_t>(execution_.lock_sets.size() - 1);
}

format::FindingAccess ToolExecution::access(format::EventKind kind, std::uint64_t address, std::uint32_t size,
                                            std::uint32_t thread, std::vector<std::uint64_t> pcs,
                                            std::uint32_t lock_set) {
  format::FindingAccess access = {};
  access.pc = pcs.empty() ? 0 : pcs.front();
  access.address = address;
  access.size = size;
  access.stack = stack(std::move(pcs));
  access.lock_set = lock_set;
  access.thread = static_cast<std::uint16_t>(thread);
  access.kind = static_cast<std::uint8_t>(kind);
  return access;
}

void ToolExecution::race(const format::FindingAccess& first, const format::FindingAccess& second,
                         std::uint32_t flags, std::uint32_t variable) {
  format::RunRace race = {};
  race.id = static_cast<std::uint32_t>(execution_.races.size());
  race.flags = flags;
  race.variable = variable;
  race.times = 1;
  race.first = first;
  race.second = second;
  execution_.races.push_back(race);
}

void ToolExecution::lock_cycle(std::vector<format::LockEdge> edges) {
  ExecutionLockCycle cycle;
  cycle.cycle.id = static_cast<std::uint32_t>(execution_.lock_cycles.size());
  cycle.cycle.flags = format::kFindingPredicted;
  cycle.cycle.count = static_cast<std::uint32_t>(edges.size());
  cycle.cycle.times = 1;
  cycle.edges = std::move(edges);
  execution_.lock_cycles.push_back(std::move(cycle));
}

std::uint32_t ToolExecution::variable(std::uint64_t address, std::uint64_t size,
                                      std::vector<std::uint64_t> allocated) {
  format::RunVariable variable = {};
  variable.id = static_cast<std::uint32_t>(execution_.variables.size());
  variable.thread = format::kRunNone;
  variable.address = address;
  variable.size = size;
  variable.pc = allocated.empty() ? 0 : allocated.front();
  variable.stack = stack(std::move(allocated));
  execution_.variables.push_back(variable);
  return variable.id;
}

void complete_modules(Execution& execution) {
  for (ExecutionModule& module : execution.modules) {
    const auto bytes = read_file(module.name.path);
    if (!bytes) continue;
    const ElfLayout layout = elf_layout(*bytes);
    module.end = module.bias + layout.end;
    module.name.build_id = layout.build_id;
  }
  constexpr std::uint64_t kFarthest = std::uint64_t{1} << 32;
  for (const auto& stack : execution.stacks)
    for (const std::uint64_t pc : stack) {
      ExecutionModule* nearest = nullptr;
      for (ExecutionModule& module : execution.modules)
        if (module.begin <= pc && (nearest == nullptr || module.begin > nearest->begin)) nearest = &module;
      if (nearest != nullptr && nearest->end <= pc && pc - nearest->begin < kFarthest) nearest->end = pc + 1;
    }
}

}  // namespace simrt::testing
