// How fast the two loads of `simrt select` are: the recorded program, and the tests with their coverage.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "history/block_numbers.h"
#include "history/facts_store.h"
#include "history/stats.h"
#include "sample.h"

namespace simrt::history {
namespace {

/// Units of 100 functions, half of them from one shared header, like a project with inline code.
void record_program(const std::filesystem::path& file, std::size_t functions) {
  Database database = create(file);
  const RevisionId revision = begin(database, "abc");
  Sampler sampler(1);
  const UnitFacts header = sampler.unit("common.h", 100);
  const std::size_t units = functions / 100 - 1;
  ok(database.transaction([&]() -> Status {
    for (std::size_t i = 0; i < units; ++i)
      ok(put_unit(database, revision, sampler.unit("unit" + std::to_string(i) + ".cc", 100, &header)));
    return {};
  }));
}

void LoadProgram(benchmark::State& state) {
  TempDir dir;
  record_program(dir.file(), static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    Database database = ok(Database::open(dir.file(), {OpenMode::ReadOnly}));
    Program program = ok(load_program(database, {1}));
    if (program.functions.size() != static_cast<std::size_t>(state.range(0))) std::abort();
    benchmark::DoNotOptimize(program);
    state.PauseTiming();  // a selection keeps the program to its end: taking it apart is nobody's cost
    program = Program();
    state.ResumeTiming();
  }
  Database database = ok(Database::open(dir.file(), {OpenMode::ReadOnly}));
  const Stats size = ok(stats(database));
  state.counters["bytes/function"] =
      static_cast<double>(size.facts_bytes) / static_cast<double>(size.function_versions);
  state.counters["file_MB"] = static_cast<double>(size.file_bytes) / 1e6;
}
BENCHMARK(LoadProgram)->Arg(2000)->Arg(20000)->Unit(benchmark::kMillisecond);

void LoadUnits(benchmark::State& state) {
  TempDir dir;
  record_program(dir.file(), static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    Database database = ok(Database::open(dir.file(), {OpenMode::ReadOnly}));
    benchmark::DoNotOptimize(ok(revision_units(database, {1})));
  }
}
BENCHMARK(LoadUnits)->Arg(20000)->Unit(benchmark::kMillisecond);

void BlockNumbers(benchmark::State& state) {
  TempDir dir;
  Database database = create(dir.file());
  Sampler sampler(2);
  std::vector<UnitFacts> units;
  for (int i = 0; i < 250; ++i) units.push_back(sampler.unit("unit" + std::to_string(i) + ".cc", 100));
  const Program program = unite(units);
  ok(assign_block_numbers(database, program));
  for (auto _ : state) benchmark::DoNotOptimize(ok(load_block_numbers(database, program)));
  state.counters["blocks"] = static_cast<double>(ok(stats(database)).blocks);
}
BENCHMARK(BlockNumbers)->Unit(benchmark::kMillisecond);

/// 200,000 blocks; a test covers a few hundred runs of neighbouring blocks, as functions are.
BlockSet covered_blocks(Sampler& sampler) {
  BlockSet blocks;
  for (int i = 0; i < 200; ++i) {
    const auto begin = sampler.below(199'950);
    blocks.addRange(begin, begin + 5 + sampler.below(20));
  }
  return blocks;
}

TestRun sample_run(Sampler& sampler, const std::string& name) {
  return test_run(name, covered_blocks(sampler), covered_blocks(sampler), covered_blocks(sampler));
}

void RecordedTests(benchmark::State& state) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId revision = begin(database, "abc");
  Sampler sampler(3);
  ok(database.transaction([&]() -> Status {
    for (int i = 0; i < state.range(0); ++i) {
      const std::string name = "Suite" + std::to_string(i / 20) + ".Case" + std::to_string(i);
      ok(put_run(database, revision, test_case(name), sample_run(sampler, name), i));
    }
    return {};
  }));
  for (auto _ : state) {
    Database reader = ok(Database::open(dir.file(), {OpenMode::ReadOnly}));
    std::vector<RecordedRun> runs = ok(recorded_tests(reader, revision));
    benchmark::DoNotOptimize(runs);
    state.PauseTiming();
    runs.clear();
    state.ResumeTiming();
  }
  const Stats size = ok(stats(database));
  state.counters["bytes/test"] = size.bytes_per_test;
}
BENCHMARK(RecordedTests)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);

void PutRun(benchmark::State& state) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId revision = begin(database, "abc");
  Sampler sampler(4);
  std::vector<TestRun> prepared;
  for (int i = 0; i < 200; ++i) prepared.push_back(sample_run(sampler, "t"));
  std::int64_t at = 0;
  for (auto _ : state) {
    const TestRun& run = prepared[static_cast<std::size_t>(at) % prepared.size()];
    ok(put_run(database, revision, test_case("t"), run, at++));
  }
}
BENCHMARK(PutRun)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace simrt::history
