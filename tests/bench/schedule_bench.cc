// Cost of recognising the 17 patterns and of learning HaPSets: per event, and growth with the length of the
// execution (target: near linear up to 10 million events). MB is what it takes beside the execution itself.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <cstdio>
#include <cstring>
#include <random>

#include "schedule/hapset/hapset.h"
#include "schedule/patterns/recognise.h"

namespace simrt::schedule {
namespace {

struct Load {
  ThreadIndex threads;
  std::uint64_t variables;
  std::size_t sites;
  unsigned burst;  ///< mean number of steps between context switches
};

Execution make(const Load& load, std::size_t events) {
  std::mt19937_64 random(42);
  Execution execution;
  execution.threads.resize(load.threads);
  execution.events.reserve(events);
  ThreadIndex thread = 0;
  for (std::size_t i = 0; i < events; ++i) {
    if (random() % load.burst == 0) thread = static_cast<ThreadIndex>(random() % load.threads);
    ExecutionEvent event;
    event.thread = thread;
    const std::uint64_t variable = random() % load.variables;
    event.object = 0x10000 + 8 * variable;
    event.size = 8;
    // A variable is touched at a few sites of its own.
    const std::uint64_t site = variable % load.sites * 4 + random() % 4;
    event.site = {site * 0x9E3779B97F4A7C15ULL + 1};
    event.kind = site % 4 == 0 ? EventKind::Write : EventKind::Read;
    execution.events.push_back(event);
  }
  return execution;
}

/// A line of /proc/self/status, in MB; 0 where there is none.
double resident(const char* name) {
  double kilobytes = 0;
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return 0;
  for (char line[256]; std::fgets(line, sizeof line, file) != nullptr;)
    if (std::strncmp(line, name, std::strlen(name)) == 0)
      std::sscanf(line + std::strlen(name), ": %lf", &kilobytes);
  std::fclose(file);
  return kilobytes / 1024;
}

/// From here on "VmHWM" is the most since now.
double begin_peak() {
  malloc_trim(0);
  if (std::FILE* file = std::fopen("/proc/self/clear_refs", "w")) {
    std::fputs("5", file);
    std::fclose(file);
  }
  return resident("VmRSS");
}

/// `work`: takes an execution, returns how much it found.
template <class Work>
void measure(benchmark::State& state, const Load& load, Work work) {
  const auto events = static_cast<std::size_t>(state.range(0));
  const Execution execution = make(load, events);
  std::size_t found = 0;
  const double before = begin_peak();
  for (auto _ : state) {
    found = work(execution);
    benchmark::DoNotOptimize(found);
  }
  state.counters["ns_per_event"] =
      benchmark::Counter(static_cast<double>(events) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["found"] = static_cast<double>(found);
  state.counters["MB"] = resident("VmHWM") - before;
}

std::size_t patterns_of(const Execution& execution) { return recognise(execution).instances.size(); }
std::size_t predecessors_of(const Execution& execution) { return HapSets{0}.learn(execution); }

constexpr Load kFewSites{4, 16, 4, 20}, kBigArray{4, 100'000, 2, 20}, kManySites{8, 200, 25, 20},
    kSwitchAtEveryStep{4, 16, 4, 1};

void BM_FewSites(benchmark::State& state) { measure(state, kFewSites, patterns_of); }
void BM_BigArray(benchmark::State& state) { measure(state, kBigArray, patterns_of); }
void BM_ManySites(benchmark::State& state) { measure(state, kManySites, patterns_of); }
void BM_SwitchAtEveryStep(benchmark::State& state) { measure(state, kSwitchAtEveryStep, patterns_of); }
void BM_HapSetsFewSites(benchmark::State& state) { measure(state, kFewSites, predecessors_of); }
void BM_HapSetsBigArray(benchmark::State& state) { measure(state, kBigArray, predecessors_of); }
void BM_HapSetsManySites(benchmark::State& state) { measure(state, kManySites, predecessors_of); }

#define LENGTHS RangeMultiplier(10)->Range(1'000, 10'000'000)->Unit(benchmark::kMillisecond)->Iterations(1)
BENCHMARK(BM_FewSites)->LENGTHS;
BENCHMARK(BM_BigArray)->LENGTHS;
BENCHMARK(BM_ManySites)->LENGTHS;
BENCHMARK(BM_SwitchAtEveryStep)->LENGTHS;
BENCHMARK(BM_HapSetsFewSites)->LENGTHS;
BENCHMARK(BM_HapSetsBigArray)->LENGTHS;
BENCHMARK(BM_HapSetsManySites)->LENGTHS;

}  // namespace
}  // namespace simrt::schedule

BENCHMARK_MAIN();
