// Cost of recognising the 17 patterns: per event, and growth with the length of the execution (target: near
// linear up to 10 million events). peak_MB is the whole process, the execution itself included.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <random>

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

void recognise_load(benchmark::State& state, const Load& load) {
  const auto events = static_cast<std::size_t>(state.range(0));
  const Execution execution = make(load, events);
  std::size_t found = 0;
  for (auto _ : state) {
    const Recognised recognised = recognise(execution);
    found = recognised.instances.size();
    benchmark::DoNotOptimize(found);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["ns_per_event"] =
      benchmark::Counter(static_cast<double>(events) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["instances"] = static_cast<double>(found);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

void BM_FewSites(benchmark::State& state) { recognise_load(state, {4, 16, 4, 20}); }
void BM_BigArray(benchmark::State& state) { recognise_load(state, {4, 100'000, 2, 20}); }
void BM_ManySites(benchmark::State& state) { recognise_load(state, {8, 200, 25, 20}); }
void BM_SwitchAtEveryStep(benchmark::State& state) { recognise_load(state, {4, 16, 4, 1}); }

#define LENGTHS RangeMultiplier(10)->Range(10'000, 10'000'000)->Unit(benchmark::kMillisecond)->Iterations(1)
BENCHMARK(BM_FewSites)->LENGTHS;
BENCHMARK(BM_BigArray)->LENGTHS;
BENCHMARK(BM_ManySites)->LENGTHS;
BENCHMARK(BM_SwitchAtEveryStep)->LENGTHS;

}  // namespace
}  // namespace simrt::schedule

BENCHMARK_MAIN();
