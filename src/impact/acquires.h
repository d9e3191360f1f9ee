// What may take over another thread's work: code that acquires. Between the start of a thread and an
// operation without any of it, nothing that the thread does happens before the operation.
#pragma once

#include <cstdint>
#include <vector>

#include "impact/call_graph.h"
#include "impact/program_index.h"

namespace simrt::impact {

class Acquires {
 public:
  Acquires(const ProgramIndex& index, const CallGraph& calls);

  /// True when one of the elements, or what they call in their thread, joins a thread, takes a lock, waits or
  /// reads with acquire order; or when that cannot be told: a future may wait in its destructor, which no
  /// operation shows.
  bool any(const std::vector<std::uint32_t>& elements) const;

 private:
  bool element(std::uint32_t element) const;

  const ProgramIndex& index_;
  const CallGraph& calls_;
  bool futures_ = false;
  std::vector<bool> acquires_;  ///< by node of the call graph
};

}  // namespace simrt::impact
