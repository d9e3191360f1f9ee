// Code that another thread, or another test, may run than those that were seen to: what a branch decides
// about whose condition the change affects, and the initialiser of a function-local static, which the thread
// runs that came first. Whoever covered the branch may be the one; that is all that can be asked of coverage.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "impact/change_context.h"

namespace simrt::impact {

class BranchSites {
 public:
  explicit BranchSites(const ChangeContext& context) : context_(context) {}

  /// The branch at the end of `block` of p' decides whether `element` (of the same function) runs.
  void add(std::uint32_t element, std::uint32_t block);
  /// Adds what the initialisers of function-local statics run in their functions.
  void add_static_initialisers();

  /// Blocks of p that the deciding branches map to, and those that decide about these; ascending, unique.
  std::vector<BlockId> of(std::uint32_t element) const;
  /// Elements that some branch decides about, ascending.
  std::vector<std::uint32_t> elements() const;
  bool empty() const { return blocks_.empty(); }

 private:
  const ChangeContext& context_;
  /// Positions of the deciding blocks, by element.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> blocks_;
};

}  // namespace simrt::impact
