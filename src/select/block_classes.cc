#include "select/block_classes.h"

#include <unordered_map>

#include "support/hash.h"

namespace simrt::select {
namespace {

template <class Visit>
void for_each_block(const TestCoverage& coverage, Visit visit) {
  for (const ThreadCoverage& thread : coverage.single)
    for (BlockNumber block : thread.blocks) visit(block);
  for (BlockNumber block : coverage.several) visit(block);
}

}  // namespace

BlockClasses block_classes(const std::vector<const TestCoverage*>& coverages) {
  // The hash of the tests that entered a block, in order, stands for that set of tests.
  std::vector<std::uint64_t> entered_by;
  for (std::size_t test = 0; test < coverages.size(); ++test) {
    if (!coverages[test]) continue;
    for_each_block(*coverages[test], [&](BlockNumber block) {
      if (block >= entered_by.size()) entered_by.resize(std::size_t{block} + 1);
      entered_by[block] = hash_combine(entered_by[block], test + 1);
    });
  }
  std::unordered_map<std::uint64_t, std::uint32_t> index;
  std::vector<std::uint32_t> class_of(entered_by.size());
  BlockClasses result;
  for (std::size_t block = 0; block < entered_by.size(); ++block) {
    if (entered_by[block] == 0) continue;
    auto [found, fresh] =
        index.try_emplace(entered_by[block], static_cast<std::uint32_t>(result.sizes.size()));
    if (fresh) result.sizes.push_back(0);
    ++result.sizes[class_of[block] = found->second];
  }
  result.of_test.resize(coverages.size());
  std::vector<std::size_t> seen(result.sizes.size());
  for (std::size_t test = 0; test < coverages.size(); ++test) {
    if (!coverages[test]) continue;
    for_each_block(*coverages[test], [&](BlockNumber block) {
      const std::uint32_t of_block = class_of[block];
      if (seen[of_block] == test + 1) return;
      seen[of_block] = test + 1;
      result.of_test[test].push_back(of_block);
    });
  }
  return result;
}

}  // namespace simrt::select
