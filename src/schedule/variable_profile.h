// How often each thread touches each shared variable: what selectively uniform random walk (Zhao et al.,
// ASPLOS 2025) takes from an execution before.
#pragma once

#include <cstdint>
#include <vector>

#include "model/execution.h"

namespace simrt::schedule {

class VariableProfile {
 public:
  struct Variable {
    std::uint64_t address = 0;            ///< where it begins, or of the lock
    std::vector<std::uint64_t> accesses;  ///< by thread, with those of the threads that it creates
    std::uint64_t total = 0;              ///< accesses by all
  };

  /// Takes over what the execution shows when no other one had as many threads; it must have come to an end.
  void learn(const Execution& execution);
  /// One of the variables that half of the threads, and two at least, share and one of them writes, each in
  /// proportion to its accesses; of those that any two share when there is none of these; and of the locks
  /// that several threads take when no memory is shared at all. Null when there are no locks either.
  const Variable* draw(std::uint64_t random) const;

 private:
  std::vector<Variable> variables_;
  std::size_t threads_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace simrt::schedule
