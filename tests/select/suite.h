// A test suite in memory: impacted accesses, pairs and coverage written down by block and thread.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "select/select.h"

namespace simrt::select {

/// Thread role -> the blocks it entered. A block under two roles was entered by several threads.
using Threads = std::map<std::string, std::vector<BlockNumber>>;

TestCoverage coverage_of(const Threads& threads);

class Suite {
 public:
  /// An access in a block with this number; returns its index. Number kNoBlock = unknown, kInitialiser =
  /// static.
  std::uint32_t access(BlockNumber block, AccessMode mode, bool impacted);
  static constexpr BlockNumber kNoBlock = UINT32_MAX, kInitialiser = UINT32_MAX - 1;
  void pair(std::uint32_t first, std::uint32_t second);
  void test(const std::string& name, const Threads& threads, double seconds = 1);
  void test_without_coverage(const std::string& name, double seconds = 1);
  void force(const std::string& name, ReasonKind kind);

  Selection select(SelectOptions options) const;
  SelectInput input(SelectOptions options) const;
  const std::string& name(TestId test) const;
  /// Names of the tests that run / are listed, in order.
  std::vector<std::string> run(SelectOptions options) const;
  std::vector<std::string> listed(SelectOptions options) const;

  Impact impact;
  ProgramDiff diff;
  std::vector<RecordedTest> tests;
  std::map<FunctionId, std::vector<BlockNumber>> function_blocks;

 private:
  std::deque<TestCoverage> coverages_;
};

SelectOptions with(Technique technique, Ranking ranking = Ranking::Pairs, bool rest = false,
                   std::uint64_t seed = 0);

}  // namespace simrt::select
