// Which memory an execution's threads share, as dense variable numbers. Accesses may overlap in part (a field
// and a copy of its struct): memory is cut where accesses begin or end, and an access touches every piece it
// covers. Memory that was freed and allocated again is another variable.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/execution.h"

namespace simrt::schedule {

using VariableNumber = std::uint32_t;

/// Only variables that two threads touched, one of them writing, get a number.
class SharedVariables {
 public:
  explicit SharedVariables(const Execution& execution);

  /// The shared variables that event `index` touches, ascending; empty for events that are no memory
  /// accesses.
  std::span<const VariableNumber> touched_by(std::size_t index) const {
    return {variables_.data() + begin_[index], variables_.data() + begin_[index + 1]};
  }
  std::uint32_t count() const { return count_; }
  /// Where the variable begins; a longer access that touches it may begin before it.
  std::uint64_t address_of(VariableNumber variable) const { return addresses_[variable]; }

 private:
  std::vector<std::size_t> begin_;
  std::vector<VariableNumber> variables_;
  std::vector<std::uint64_t> addresses_;  ///< by variable
  std::uint32_t count_ = 0;
};

}  // namespace simrt::schedule
