#include "select/block_classes.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "support/hash.h"
#include "support/task_pool.h"

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

/// The sum of a hash for each test that entered a block: stands for that set of tests.
using EnteredBy = std::vector<std::uint64_t>;

/// Tests are looked at in parallel, in chunks that need memory for each block.
class Chunks {
 public:
  explicit Chunks(std::size_t tests) : tests_(tests) {}
  std::size_t count() const { return std::min<std::size_t>(tests_, available_processors()); }
  template <class Visit>
  void for_each(Visit visit) const {
    run_tasks(count(), 0, [&](std::size_t chunk) {
      visit(chunk, tests_ * chunk / count(), tests_ * (chunk + 1) / count());
    });
  }

 private:
  std::size_t tests_;
};

EnteredBy entered_by(const std::vector<const TestCoverage*>& coverages, const Chunks& chunks) {
  std::vector<EnteredBy> parts(chunks.count());
  chunks.for_each([&](std::size_t chunk, std::size_t begin, std::size_t end) {
    BlockList list;
    EnteredBy& part = parts[chunk];
    for (std::size_t test = begin; test < end; ++test) {
      if (!coverages[test]) continue;
      const std::uint64_t hash = hash_combine(0, test + 1);
      list.visit(*coverages[test], [&](BlockNumber block) {
        if (block >= part.size()) part.resize(std::size_t{block} + 1);
        part[block] += hash;
      });
    }
  });
  EnteredBy sums;
  for (const EnteredBy& part : parts) {
    sums.resize(std::max(sums.size(), part.size()));
    for (std::size_t block = 0; block < part.size(); ++block) sums[block] += part[block];
  }
  return sums;
}

}  // namespace

BlockClasses block_classes(const std::vector<const TestCoverage*>& coverages) {
  const Chunks chunks(coverages.size());
  const EnteredBy sums = entered_by(coverages, chunks);
  // A class is met wherever the first of its blocks is.
  constexpr std::uint32_t kNotFirst = UINT32_MAX;
  std::unordered_map<std::uint64_t, std::uint32_t> index;
  index.reserve(sums.size());
  std::vector<std::uint32_t> first_of(sums.size(), kNotFirst);
  BlockClasses result;
  for (std::size_t block = 0; block < sums.size(); ++block) {
    if (sums[block] == 0) continue;
    const auto number = static_cast<std::uint32_t>(result.sizes.size());
    const auto [found, fresh] = index.try_emplace(sums[block], number);
    if (fresh) {
      result.sizes.push_back(0);
      first_of[block] = number;
    }
    ++result.sizes[found->second];
  }
  result.of_test.resize(coverages.size());
  chunks.for_each([&](std::size_t, std::size_t begin, std::size_t end) {
    BlockList list;
    std::vector<std::size_t> seen(result.sizes.size());
    std::vector<std::uint32_t> classes;
    for (std::size_t test = begin; test < end; ++test) {
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
  });
  return result;
}

}  // namespace simrt::select
