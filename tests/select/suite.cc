#include "suite.h"

#include <algorithm>

namespace simrt::select {
namespace {

/// All blocks are those of one function, with ordinal = number; initialisers belong to another one.
const FunctionId kFunction{77}, kInitialisers{78};

}  // namespace

TestCoverage coverage_of(const Threads& threads) {
  std::map<BlockNumber, int> count;
  for (const auto& [role, blocks] : threads)
    for (BlockNumber block : blocks) ++count[block];
  TestCoverage coverage;
  coverage.threads = static_cast<std::uint32_t>(std::max<std::size_t>(threads.size(), 1));
  for (const auto& [role, blocks] : threads) {
    ThreadCoverage thread{role, {}};
    for (BlockNumber block : blocks) {
      if (count[block] > 1)
        coverage.several.add(block);
      else
        thread.blocks.add(block);
    }
    if (!thread.blocks.isEmpty()) coverage.single.push_back(std::move(thread));
  }
  return coverage;
}

std::uint32_t Suite::access(BlockNumber block, AccessMode mode, bool impacted) {
  SharedAccess access;
  access.block = block == kNoBlock       ? BlockId{}
                 : block == kInitialiser ? BlockId{kInitialisers, 1}
                                         : BlockId{kFunction, block};
  access.mode = mode;
  access.impacted = impacted;
  access.file = "a.cc";
  access.at = {static_cast<std::uint32_t>(impact.accesses.size() + 1), 1};
  impact.accesses.push_back(access);
  return static_cast<std::uint32_t>(impact.accesses.size() - 1);
}

void Suite::pair(std::uint32_t first, std::uint32_t second) {
  impact.pairs.push_back({std::min(first, second), std::max(first, second)});
}

void Suite::test(const std::string& name, const Threads& threads, double seconds) {
  coverages_.push_back(coverage_of(threads));
  test_without_coverage(name, seconds);
  tests.back().coverage = &coverages_.back();
}

void Suite::test_without_coverage(const std::string& name, double seconds) {
  RecordedTest test;
  test.test = test_id(name);
  test.name = name;
  test.seconds = seconds;
  tests.push_back(std::move(test));
}

void Suite::force(const std::string& name, ReasonKind kind) {
  for (RecordedTest& test : tests)
    if (test.name == name) test.forced.push_back({kind, 0, {}, {}, "forced"});
}

SelectInput Suite::input(SelectOptions options) const {
  const auto block = [](BlockId id) {
    if (id.function == kInitialisers) return BlockResolution::static_init();
    return id.function == kFunction ? BlockResolution::known(id.ordinal) : BlockResolution::unknown();
  };
  const auto blocks = [this](FunctionId function) {
    const auto found = function_blocks.find(function);
    return found == function_blocks.end() ? std::vector<BlockNumber>{} : found->second;
  };
  return {impact, diff, tests, block, blocks, options};
}

Selection Suite::select(SelectOptions options) const { return select::select(input(options)); }

const std::string& Suite::name(TestId test) const {
  return std::find_if(tests.begin(), tests.end(), [&](const RecordedTest& t) { return t.test == test; })
      ->name;
}

std::vector<std::string> Suite::run(SelectOptions options) const {
  std::vector<std::string> names;
  for (const Decision& decision : select(options).decisions)
    if (decision.run) names.push_back(name(decision.test));
  return names;
}

std::vector<std::string> Suite::listed(SelectOptions options) const {
  std::vector<std::string> names;
  for (const Decision& decision : select(options).decisions)
    if (decision.rank != 0) names.push_back(name(decision.test));
  return names;
}

SelectOptions with(Technique technique, Ranking ranking, bool rest, std::uint64_t seed) {
  SelectOptions options;
  options.technique = technique;
  options.ranking = ranking;
  options.rest = rest;
  options.seed = seed;
  return options;
}

}  // namespace simrt::select
