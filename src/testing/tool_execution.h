// An Execution made from the report of another tool (ThreadSanitizer, Helgrind, DRD), so that all behind it
// is the same as for what our own runtime saw.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "testing/execution.h"

namespace simrt::testing {

/// Gives out the numbers that an Execution's records refer to each other by. Not thread-safe.
class ToolExecution {
 public:
  Execution& execution() { return execution_; }
  /// The module at `path` whose link-time address 0 lies at `bias`.
  void module(const std::string& path, std::uint64_t bias);
  /// format::kRunNone for an empty stack.
  std::uint32_t stack(std::vector<std::uint64_t> pcs);
  /// Known by its number in order of creation: 0 = main. The first creation told of counts.
  void thread(std::uint32_t index, std::uint32_t parent, std::vector<std::uint64_t> created);
  std::uint32_t lock_set(std::vector<format::HeldLock> locks);
  /// A side with its stack.
  format::FindingAccess access(format::EventKind kind, std::uint64_t address, std::uint32_t size,
                               std::uint32_t thread, std::vector<std::uint64_t> pcs, std::uint32_t lock_set);
  void race(const format::FindingAccess& first, const format::FindingAccess& second, std::uint32_t flags,
            std::uint32_t variable);
  void lock_cycle(std::vector<format::LockEdge> edges);
  /// The memory a finding is about; its number.
  std::uint32_t variable(std::uint64_t address, std::uint64_t size, std::vector<std::uint64_t> allocated);

 private:
  Execution execution_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> stacks_;
};

/// Extents and build ids of the modules, from their files. One that cannot be read is as long as the pcs
/// known of it.
void complete_modules(Execution& execution);

}  // namespace simrt::testing
