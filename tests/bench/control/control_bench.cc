// Cost of controlled executions: of a whole one (fork server, process start, and a plain process beside
// them), and of a scheduling point. SIMRT_WORKLOAD and SIMRT_WORKLOAD_NATIVE are workload.cc as check build
// and as ordinary one.
#include <benchmark/benchmark.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testing/check_program.h"

namespace simrt::testing {
namespace {

using format::StrategyKind;

Result<CheckProgram> program(std::vector<std::string> arguments, bool fork_server) {
  CheckOptions options;
  options.command = {SIMRT_WORKLOAD};
  options.command.insert(options.command.end(), arguments.begin(), arguments.end());
  options.fork_server = fork_server;
  options.pinned = true;
  return CheckProgram::create(options);
}

/// Processor time of this process and of all children that have ended, in seconds.
double processor_seconds() {
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& part : {usage.ru_utime, usage.ru_stime})
      seconds += static_cast<double>(part.tv_sec) + 1e-6 * static_cast<double>(part.tv_usec);
  }
  return seconds;
}

/// In ms an iteration; unlike real time it hardly depends on what else the machine does.
void report_processor_time(benchmark::State& state, double before) {
  state.counters["processor_ms"] =
      benchmark::Counter((processor_seconds() - before) * 1e3, benchmark::Counter::kAvgIterations);
}

/// `flags`: PlanFlag. Real time: most of it passes in the child.
void executions(benchmark::State& state, bool fork_server, std::uint32_t flags) {
  const double before = processor_seconds();
  auto made = program({"small"}, fork_server);
  if (!made) return state.SkipWithError(made.error().message.c_str());
  std::optional<CheckProgram> small(std::move(*made));
  CheckPlan plan;
  plan.strategy = StrategyKind::Random;
  plan.flags = flags;
  std::uint64_t points = 0;
  for (auto _ : state) {
    ++plan.seed;
    auto result = small->run(plan);
    if (!result || result->end != CheckEnd::Finished) return state.SkipWithError("did not end by itself");
    points += result->execution.points;
  }
  state.SetItemsProcessed(state.iterations());
  small.reset();  // its processes are counted when they have ended
  report_processor_time(state, before);
  state.counters["points"] =
      benchmark::Counter(static_cast<double>(points), benchmark::Counter::kAvgIterations);
}

void BM_Execution(benchmark::State& state) { executions(state, true, 0); }
void BM_ExecutionWithEvents(benchmark::State& state) { executions(state, true, format::kPlanRecordEvents); }
void BM_ExecutionByProcessStart(benchmark::State& state) { executions(state, false, 0); }
void BM_NativeProcess(benchmark::State& state) {
  const double before = processor_seconds();
  std::string name = SIMRT_WORKLOAD_NATIVE, what = "small";
  char* arguments[] = {name.data(), what.data(), nullptr};
  for (auto _ : state) {
    pid_t child = 0;
    int status = -1;
    if (posix_spawn(&child, arguments[0], nullptr, nullptr, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0)
      return state.SkipWithError("did not end well");
  }
  state.SetItemsProcessed(state.iterations());
  report_processor_time(state, before);
}

/// What an execution of n steps costs beyond one of none, for each of its points.
void points(benchmark::State& state, const char* what, StrategyKind strategy, std::uint32_t flags) {
  const auto n = state.range(0);
  auto work = program({what, std::to_string(n)}, true);
  auto none = program({what, "0"}, true);
  if (!work || !none) return state.SkipWithError("no program");
  CheckPlan plan;
  plan.strategy = strategy;
  plan.flags = flags;
  plan.max_points = 1'000'000'000;
  double made = 0;
  for (auto _ : state) {
    auto base = none->run(plan);
    auto result = work->run(plan);
    if (!base || !result || result->end != CheckEnd::Finished)
      return state.SkipWithError("did not end by itself");
    state.SetIterationTime(result->seconds - base->seconds);
    made += static_cast<double>(result->execution.points - base->execution.points);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(made));
}

void BM_Accesses(benchmark::State& state) { points(state, "accesses", StrategyKind::Default, 0); }
void BM_AccessesRandom(benchmark::State& state) { points(state, "accesses", StrategyKind::Random, 0); }
void BM_AccessesWithEvents(benchmark::State& state) {
  points(state, "accesses", StrategyKind::Default, format::kPlanRecordEvents);
}
void BM_Atomics(benchmark::State& state) { points(state, "atomics", StrategyKind::Default, 0); }
void BM_Locks(benchmark::State& state) { points(state, "locks", StrategyKind::Default, 0); }
void BM_SwitchAtEveryAccess(benchmark::State& state) {
  points(state, "switches", StrategyKind::RoundRobin, 0);
}

BENCHMARK(BM_Execution)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_ExecutionWithEvents)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_ExecutionByProcessStart)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_NativeProcess)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Accesses)->Arg(20'000'000)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_AccessesRandom)->Arg(20'000'000)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_AccessesWithEvents)->Arg(1'000'000)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Atomics)->Arg(20'000'000)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Locks)->Arg(1'000'000)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SwitchAtEveryAccess)->Arg(200'000)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace simrt::testing

BENCHMARK_MAIN();
