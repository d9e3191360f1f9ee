// Wrong use of the heap in a recorded execution: memory touched after its release, a block released twice.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "testing/execution.h"

namespace simrt::pipeline {

struct MemoryMisuse {
  bool double_release = false;  ///< else: touched after its release
  std::size_t event = 0;        ///< index into Execution::events
  std::size_t release = 0;      ///< as well: what released the block before
};

/// The first one. Only what the event log holds can be judged: watched accesses and, of blocks, those that
/// came from and went back to malloc, new and their kin. A block that was handed out again is live.
std::optional<MemoryMisuse> find_memory_misuse(const testing::Execution& execution);

/// "use after free" or "double free".
std::string to_string(const MemoryMisuse& misuse);

}  // namespace simrt::pipeline
