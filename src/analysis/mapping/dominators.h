// Immediate dominators of one function's CFG. Internal to mapping.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/facts.h"

namespace simrt::analysis {

/// Cooper, Harvey, Kennedy: "A simple, fast dominance algorithm" (2001). Roots are the entry and the dispatch
/// blocks of try statements, which the CFG reaches over no edge.
class Dominators {
 public:
  explicit Dominators(const FunctionFacts& function);

  bool reachable(std::uint32_t ordinal) const;
  /// The immediate dominator; nullopt for roots, blocks behind several roots, and unreachable blocks.
  std::optional<std::uint32_t> parent(std::uint32_t ordinal) const;

 private:
  std::uint32_t meet(std::uint32_t a, std::uint32_t b) const;

  std::vector<std::uint32_t> ordinals_;  // by post-order number; the last one stands for the virtual root
  std::unordered_map<std::uint32_t, std::uint32_t> number_;  // ordinal -> post-order number
  std::vector<std::uint32_t> parent_;                        // by post-order number
};

}  // namespace simrt::analysis
