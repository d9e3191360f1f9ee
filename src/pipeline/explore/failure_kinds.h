// Failing executions sorted by what failed, so that the same failure is counted once. (MAP, section V: two
// failed executions reveal the same bug if the same exception is observed from the same instruction.)
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/execution/symbols.h"
#include "pipeline/execution/test_program.h"
#include "report/explore_view.h"

namespace simrt::pipeline {

/// Where the threads stand that wait for ever ("file:line", each once, sorted): two deadlocks of one program
/// are two failures. Where a thread waits in a library's code, whose callers a wait does not tell of, the
/// place of its last step: "behind file:line". Empty for other ends: a failed assertion names itself.
std::vector<std::string> stuck_places(const Observed& seen, Symbols& symbols);

/// Not thread-safe.
class FailureKinds {
 public:
  /// Counts a failing execution; `number` is its number, from 1. Returns the index of its kind and whether
  /// it is the first of it.
  std::pair<std::size_t, bool> add(const Observed& seen, Symbols& symbols, std::uint64_t number);

  /// In the order in which they were met; no more than kMost, further ones are counted with the last.
  const std::vector<report::FailureKind>& all() const { return kinds_; }

  static constexpr std::size_t kMost = 1000;

 private:
  std::vector<report::FailureKind> kinds_;
  std::map<std::pair<std::string, std::vector<std::string>>, std::size_t> index_;
};

}  // namespace simrt::pipeline
