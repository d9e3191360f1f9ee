// Matching and ranking at the size of a large project: 10,000 tests, 200,000 blocks, 5,000 impacted pairs.
// Target: under a second and under 1 GB (printed as peak_MB: the whole process, coverage included).
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "select/select.h"

namespace simrt::select {
namespace {

/// A synthetic project: blocks form functions, functions form components. A test runs a common core, a few
/// components in depth, and scattered blocks; blocks are entered by main, by one worker, or by several
/// threads.
class Project {
 public:
  Project(std::size_t tests, BlockNumber blocks, std::size_t pairs) : random_(42), blocks_(blocks) {
    for (std::size_t i = 0; i < tests; ++i) add_coverage();
    add_impact(pairs);
    for (std::size_t i = 0; i < tests; ++i) {
      RecordedTest test;
      test.name = "Suite.Case" + std::to_string(i);
      test.test = test_id(test.name);
      test.seconds = std::exp(std::normal_distribution<>(-2, 1.5)(random_));
      test.coverage = &coverages_[i];
      tests_.push_back(std::move(test));
    }
  }

  SelectInput input(SelectOptions options) const {
    return {impact_,
            diff_,
            tests_,
            [](BlockId id) { return BlockResolution::known(id.ordinal); },
            [](FunctionId) { return std::vector<BlockNumber>{}; },
            options};
  }

 private:
  static constexpr BlockNumber kFunction = 12;      // blocks
  static constexpr BlockNumber kComponent = 1'000;  // blocks

  void add_coverage() {
    TestCoverage coverage;
    coverage.threads = 1 + static_cast<std::uint32_t>(random_() % 4);
    std::vector<BlockSet> threads(coverage.threads);
    // A function's blocks lie on four paths; whoever enters it takes the first, and each other one by chance.
    const auto enter_function = [&](BlockNumber function) {
      const std::size_t thread = random_() % coverage.threads;
      const bool several = coverage.threads > 1 && random_() % 4 == 0;
      const std::uint64_t paths = 1 | random_();
      for (BlockNumber block = function; block < std::min(function + kFunction, blocks_); ++block)
        if (paths >> (block % 7 % 4) & 1) (several ? coverage.several : threads[thread]).add(block);
    };
    for (BlockNumber function = 0; function < 2 * kComponent; function += kFunction) enter_function(function);
    for (std::size_t components = 1 + random_() % 6; components-- > 0;) {
      const BlockNumber start = static_cast<BlockNumber>(random_() % (blocks_ / kComponent)) * kComponent;
      for (BlockNumber function = start; function < start + kComponent; function += kFunction)
        if (random_() % 3 != 0) enter_function(function);
    }
    for (int i = 0; i < 60; ++i)
      enter_function(static_cast<BlockNumber>(random_() % (blocks_ / kFunction)) * kFunction);
    for (std::size_t i = 0; i < threads.size(); ++i) {
      threads[i] -= coverage.several;
      for (std::size_t j = 0; j < i; ++j) threads[i] -= threads[j];
      threads[i].runOptimize();
      coverage.single.push_back(
          {i == 0 ? "main" : "main/worker#" + std::to_string(i), std::move(threads[i])});
    }
    coverage.several.runOptimize();
    coverages_.push_back(std::move(coverage));
  }

  /// Accesses of 40 alias classes, a third of which lie in the core; pairs within each.
  void add_impact(std::size_t pairs) {
    constexpr std::uint32_t kClasses = 40, kAccesses = 60;
    for (std::uint32_t alias = 0; alias < kClasses; ++alias) {
      const BlockNumber home =
          alias % 3 == 0 ? 0 : static_cast<BlockNumber>(random_() % (blocks_ / kComponent)) * kComponent;
      for (std::uint32_t i = 0; i < kAccesses; ++i) {
        SharedAccess access;
        access.block = {FunctionId{1},
                        home + static_cast<BlockNumber>(random_() % (2 * kComponent)) % (blocks_ - home)};
        access.mode = i % 3 ? AccessMode::Read : AccessMode::Write;
        access.impacted = i % 2 == 0;
        access.file = "src/component_" + std::to_string(alias) + ".cc";
        access.at = {i, 3};
        impact_.accesses.push_back(std::move(access));
      }
    }
    while (impact_.pairs.size() < pairs) {
      const std::uint32_t start = static_cast<std::uint32_t>(random_() % kClasses) * kAccesses;
      const std::uint32_t a = start + static_cast<std::uint32_t>(random_() % kAccesses);
      const std::uint32_t b = start + static_cast<std::uint32_t>(random_() % kAccesses);
      impact_.pairs.push_back({std::min(a, b), std::max(a, b)});
    }
  }

  std::mt19937_64 random_;
  BlockNumber blocks_;
  std::vector<TestCoverage> coverages_;
  std::vector<RecordedTest> tests_;
  Impact impact_;
  ProgramDiff diff_;
};

const Project& large_project() {
  static const Project project(10'000, 200'000, 5'000);
  return project;
}

void select_ranked(benchmark::State& state, Ranking ranking, bool rest) {
  SelectOptions options;
  options.ranking = ranking;
  options.rest = rest;
  const SelectInput input = large_project().input(options);
  std::size_t selected = 0, pairs = 0;
  for (auto _ : state) {
    const Selection selection = select(input);
    selected = pairs = 0;
    for (const Decision& decision : selection.decisions) selected += decision.run, pairs += decision.pairs;
    benchmark::DoNotOptimize(selection);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["selected"] = static_cast<double>(selected);
  state.counters["pairs_per_test"] =
      static_cast<double>(pairs) / static_cast<double>(std::max<std::size_t>(selected, 1));
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

void BM_SelectPairs(benchmark::State& state) { select_ranked(state, Ranking::Pairs, false); }
void BM_SelectCost(benchmark::State& state) { select_ranked(state, Ranking::Cost, false); }
void BM_SelectCostRest(benchmark::State& state) { select_ranked(state, Ranking::Cost, true); }
void BM_SelectAbc(benchmark::State& state) { select_ranked(state, Ranking::Abc, false); }

BENCHMARK(BM_SelectPairs)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SelectCost)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SelectCostRest)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SelectAbc)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace simrt::select

BENCHMARK_MAIN();
