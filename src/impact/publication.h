// Whether a constructor may make its object known to another thread before it returns. Until then its
// accesses to the object have no partner: nobody else can name the object (Java's "safe construction",
// JLS 17.5; C++ has the same rule of thumb). Knows nothing of the change.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "impact/call_graph.h"
#include "impact/program_index.h"

namespace simrt::impact {

class Publication {
 public:
  Publication(const ProgramIndex& index, const CallGraph& calls) : index_(index), calls_(calls) {}

  /// True when `function`, or a function that it calls on the same object, starts a thread, hands a function
  /// on, stores `this` or passes it to somebody; also when such a call leads out of the program. Memoised;
  /// not thread-safe.
  bool leaks_this(std::uint32_t function) const;

 private:
  /// Without the functions that it calls on the same object: those are added to `on_this`.
  bool leaks_itself(std::uint32_t function, std::vector<std::uint32_t>& on_this) const;

  const ProgramIndex& index_;
  const CallGraph& calls_;
  mutable std::unordered_map<std::uint32_t, bool> known_;
};

}  // namespace simrt::impact
