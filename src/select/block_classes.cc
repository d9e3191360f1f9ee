#include "select/block_classes.h"

#include <cstdint>
#include <unordered_map>

#include "support/hash.h"

namespace simrt::select {
namespace {

/// Lists what a bitmap holds at once: several times as fast as its iterator.
class BlockList {
 public:
  template <class Visit>
  void visit(const TestCoverage& coverage, Visit visit) {
    for (const ThreadCoverage& thread : coverage.single) visit_all(thread.blocks, visit);
    visit_all(coverage.several, visit);
  }

 private:
  template <class Visit>
  void visit_all(const BlockSet& blocks, Visit visit) {
    list_.resize(blocks.cardinality());
    blocks.toUint32Array(list_.data());
    for (const BlockNumber block : list_) visit(block);
  }
  std::vector<BlockNumber> list_;
};

}  // namespace

BlockClasses block_classes(const std::vector<const TestCoverage*>& coverages) {
  // The sum of a hash for each test that entered a block stands for that set of tests.
  BlockList list;
  std::vector<std::uint64_t> entered_by;
  for (std::size_t test = 0; test < coverages.size(); ++test) {
    if (!coverages[test]) continue;
    const std::uint64_t hash = hash_combine(0, test + 1);
    list.visit(*coverages[test], [&](BlockNumber block) {
      if (block >= entered_by.size()) entered_by.resize(std::size_t{block} + 1);
      entered_by[block] += hash;
    });
  }
  // A class is met wherever the first of its blocks is.
  constexpr std::uint32_t kNotFirst = UINT32_MAX;
  std::unordered_map<std::uint64_t, std::uint32_t> index;
  index.reserve(entered_by.size());
  std::vector<std::uint32_t> first_of(entered_by.size(), kNotFirst);
  BlockClasses result;
  for (std::size_t block = 0; block < entered_by.size(); ++block) {
    if (entered_by[block] == 0) continue;
    const auto number = static_cast<std::uint32_t>(result.sizes.size());
    const auto [found, fresh] = index.try_emplace(entered_by[block], number);
    if (fresh) {
      result.sizes.push_back(0);
      first_of[block] = number;
    }
    ++result.sizes[found->second];
  }
  result.of_test.resize(coverages.size());
  std::vector<std::size_t> seen(result.sizes.size());
  std::vector<std::uint32_t> classes;
  for (std::size_t test = 0; test < coverages.size(); ++test) {
    if (!coverages[test]) continue;
    classes.clear();
    list.visit(*coverages[test], [&](BlockNumber block) {
      const std::uint32_t number = first_of[block];
      if (number == kNotFirst || seen[number] == test + 1) return;
      seen[number] = test + 1;
      classes.push_back(number);
    });
    result.of_test[test] = classes;
  }
  return result;
}

}  // namespace simrt::select
