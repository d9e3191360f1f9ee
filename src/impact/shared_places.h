// Which accesses of a program version two threads could make to the same memory. Conservative: only what is
// certainly private is left out (locals whose address never leaves the function, thread_local and const
// objects). Harmless-looking accesses (own constructor) are kept and tagged.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "impact/program_index.h"

namespace simrt::impact {

class SharedPlaces {
 public:
  /// Accesses to `changed_variables` always count: dropping const or thread_local is a change of its own.
  SharedPlaces(const ProgramIndex& index, const std::vector<VariableId>& changed_variables);

  /// True for an Access event that may touch shared memory.
  bool contains(std::uint32_t event) const { return shared_[event]; }
  bool any_in(std::uint32_t element) const;

 private:
  void classify(std::uint32_t function, const std::unordered_set<VariableId>& changed_variables);

  const ProgramIndex& index_;
  std::vector<bool> shared_;
};

}  // namespace simrt::impact
