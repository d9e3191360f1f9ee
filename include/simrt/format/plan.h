// The plan: what the host asks of one execution of a check build (src/runtime/{detect,control}).
//
// It lies inside the run file (run.h) at RunHeader::plan_offset:
//
//   plan := PlanHeader chunk*         (PlanHeader::bytes in all; chunks of kPlanAlign)
//
// The host writes it whole before the program, or the next execution of a fork server, starts; the runtime
// only reads it. Version: kRunVersion (run.h).
#pragma once

#include <stdint.h>

#include "simrt/format/chunk.h"
#include "simrt/format/event.h"

namespace simrt::format {

inline constexpr uint64_t kPlanAlign = 16;
/// "No module", "any thread".
inline constexpr uint32_t kPlanNone = UINT32_MAX;

// X(name, number, meaning)
#define SIMRT_RUN_MODES(X)                                             \
  X(Off, 0, "everything is forwarded; the program runs as if by hand") \
  X(Detect, 1, "the program runs freely under the detectors")          \
  X(Control, 2, "one thread at a time, chosen by the strategy; detectors as asked for")

// X(name, bit, meaning)
#define SIMRT_DETECTORS(X)                                                                      \
  X(Races, 0, "unordered conflicting accesses of this execution")                               \
  X(PotentialRaces, 1, "accesses that another schedule could make race (locksets, weak order)") \
  X(LockCycles, 2, "lock-order cycles")                                                         \
  X(Atomicity, 3, "unserialisable triples and quadruples of accesses")                          \
  X(RacySites, 4, "every site that touches a variable with a race, not only the first pair")

// Strategies: who goes on where the schedule to follow has nothing (more) to say. `parameter` fields are
// those of PlanHeader. X(name, number, meaning)
#define SIMRT_STRATEGIES(X)                                                                  \
  X(Default, 0, "the running thread goes on; when it cannot, the one with the lowest index") \
  X(Random, 1, "random walk: uniform among the enabled threads at every point (seed)")       \
  X(Pct, 2, "probabilistic concurrency testing (seed, depth, length)")                       \
  X(Pos, 3, "partial order sampling (seed)")                                                 \
  X(Surw, 4, "selectively uniform random walk (seed; PlanWeights)")                          \
  X(Pair, 5, "active testing of the pairs of sites in PlanPairs (seed, hold, walk)")         \
  X(Sequence, 6, "active testing of the order of steps in PlanSequence (seed, hold, depth)") \
  X(RoundRobin, 7, "the next thread by index at every point at which one can go on")         \
  X(ReadsFrom, 8, "what reads see is constrained by PlanPairs; else as Pos (seed, hold)")    \
  X(Periodical, 9, "threads go through the periods of PlanCuts one period after the other (seed)")

// X(name, bit, meaning)
#define SIMRT_PLAN_FLAGS(X)                                                                               \
  X(RecordEvents, 0, "write every event, with the enabled threads, to RunEvents chunks")                  \
  X(RealTime, 1, "clocks and time limits are the kernel's, not virtual")                                  \
  X(SpuriousWakeups, 2, "the strategy may wake waiters of condition variables for no reason")             \
  X(ForkServer, 3, "stop before main and serve executions (RunServer)")                                   \
  X(SynchronizationOnly, 4, "plain accesses are no scheduling points")                                    \
  X(StrictSchedule, 5, "end the run as Diverged where the schedule to follow does not fit the execution") \
  X(CaptureOutput, 6, "children of the fork server write standard output and errors to <run file>.out")   \
  X(PinToProcessor, 7, "run on one processor only (PlanHeader::processor); the program does not notice")  \
  X(StopAtSchedule, 8, "end the run as Stopped when the schedule to follow is used up")                   \
  X(WatchedAlways, 9, "the watched sites alone are points for plain accesses even when there are none")   \
  X(RecordUnwatched, 10, "RecordEvents: plain accesses that are no points, too (kEventWithoutDecision)")  \
  X(SitesIgnored, 11, "the watched sites are those whose plain accesses are no points; all others are")   \
  X(StopAtMeeting, 12,                                                                                    \
    "Pair: end the run as Stopped when both accesses of a pair stand before the same address, or a race " \
    "of the two was seen")                                                                                \
  X(WatchLibraries, 13, "beside the watched sites, accesses by the C++ library's own code count")         \
  X(TrapAtEnd, 14, "raise SIGTRAP before the engine ends the run, for a debugger to look at the threads")

#define X(name, number, meaning) name = (number),
enum class RunMode : uint32_t { SIMRT_RUN_MODES(X) };
enum class StrategyKind : uint32_t { SIMRT_STRATEGIES(X) };
#undef X
#define X(name, bit, meaning) kDetect##name = 1u << bit,
enum Detector : uint32_t { SIMRT_DETECTORS(X) };
#undef X
#define X(name, bit, meaning) kPlan##name = 1u << bit,
enum PlanFlag : uint32_t { SIMRT_PLAN_FLAGS(X) };
#undef X

struct PlanHeader {
  uint64_t bytes;  // header and chunks
  RunMode mode;
  StrategyKind strategy;
  uint32_t flags;      // PlanFlag
  uint32_t detectors;  // Detector
  uint64_t seed;
  uint32_t depth;       // Pct: number of change points + 1; Sequence: times that the first step is let pass
  uint32_t bound;       // most preemptions that the strategy may make; 0 = no bound
  uint64_t length;      // Pct, Sequence, ReadsFrom: expected points of one execution; 0 = unknown
  uint64_t hold;        // Pair, Sequence: longest hold of a thread, in points; 0 = the runtime's default
  uint64_t max_points;  // then the run ends as PointLimit; 0 = the runtime's default
  uint64_t max_milliseconds;  // real time, then TimeLimit; 0 = none (the host watches as well)
  uint32_t processor;         // PinToProcessor
  uint32_t findings_limit;    // most findings of each kind that are written; 0 = the runtime's default
  uint64_t epoch_ns;          // virtual CLOCK_REALTIME at the start; 0 = the kernel's
  uint64_t short_sleep_ns;    // sleeps up to this span only give way: how long others take is not known
  StrategyKind walk;          // Pair: chooses among the threads that are not held (seed, depth, length)
  uint32_t reserved0;
  uint64_t reserved[3];
};

/// A module the other chunks speak of. Matched by build id where both have one, else by path; the first one
/// with neither is the main program. Payload: path_bytes, then build_id_bytes (raw).
struct PlanModule {
  uint32_t index;  // 0, 1, 2, ... in file order
  uint32_t path_bytes;
  uint32_t build_id_bytes;
  uint32_t reserved;
};

/// A return address of a hook (or of an interposed call) as module offset: look up offset - 1.
struct PlanSite {
  uint32_t module;
  uint32_t reserved;
  uint64_t offset;
};

/// Watched sites: the plain accesses that matter; none = all. Payload: count x PlanSite.
struct PlanSites {
  uint32_t count;
  uint32_t reserved;
};

/// Payload: count x PlanPair.
struct PlanPairs {
  uint32_t count;
  uint32_t reserved;
};
struct PlanPair {
  PlanSite first, second;
  uint32_t
      first_then_second;  // the order in which to let them go once both are there: 1, or 0 for the reverse
  uint32_t reserved;
  uint64_t first_calls,
      second_calls;  // ReadsFrom: RunEvent::calls of an execution of this process image; 0 = any
};

/// The steps to bring about in this order. Payload: count x PlanStep.
struct PlanSequence {
  uint32_t count;
  uint32_t reserved;
};
struct PlanStep {
  PlanSite site;
  uint32_t role;  // steps of one role are made by one thread, of two roles by two
  EventKind kind;
  uint16_t reserved;
  uint32_t variable;  // steps with the same number touch the same address
  uint32_t thread;    // the index of that thread where it is known, else kPlanNone
  uint64_t address;   // of the memory or lock where it is known to be the same in every execution, else 0
  uint64_t calls;     // RunEvent::calls of an execution of this process image; 0 = any
};

// What a choice in a schedule decides. X(name, number, meaning)
#define SIMRT_CHOICES(X)                                                                      \
  X(Run, 1, "the thread that goes on")                                                        \
  X(Wake, 2, "the waiter that a notification wakes, where it is not the first in the queue")  \
  X(Arrive, 3, "the thread whose call outside has returned, taken up again at this decision") \
  X(Spurious, 4, "the waiter that wakes for no reason")

enum class ChoiceKind : uint16_t {
#define X(name, number, meaning) name = (number),
  SIMRT_CHOICES(X)
#undef X
};

/// One departure from the default schedule (the running thread goes on; when it cannot or yields, the enabled
/// one with the lowest index). The site and kind are of the operation that the thread is about to make; they
/// let a replay notice that it is in another execution.
struct ScheduleItem {
  uint64_t decision;  // number of the scheduling point, from 1
  uint32_t thread;
  ChoiceKind choice;
  EventKind kind;  // 0 = not checked
  uint32_t
      module;  // of the runtime's module list (RunModule::index) or of the plan's; kPlanNone = not checked
  uint32_t reserved;
  uint64_t offset;
};

/// The schedule to follow from the start, ascending. Payload: count x ScheduleItem (plan modules).
struct PlanSchedule {
  uint32_t count;
  uint32_t reserved;
};

/// Surw: expected number of interesting points of thread i. Payload: count x uint64_t.
struct PlanWeights {
  uint32_t count;
  uint32_t reserved;
};

/// Periodical. Payload: count x PlanCut.
struct PlanCuts {
  uint32_t count;
  uint32_t reserved;
};
/// The thread with this index enters the period behind so many of its own points.
struct PlanCut {
  uint32_t thread;
  uint32_t period;
  uint64_t points;
};

// Every kind of chunk: X(name, number, record)
#define SIMRT_PLAN_RECORDS(X)  \
  X(Module, 1, PlanModule)     \
  X(Sites, 2, PlanSites)       \
  X(Pairs, 3, PlanPairs)       \
  X(Sequence, 4, PlanSequence) \
  X(Schedule, 5, PlanSchedule) \
  X(Weights, 6, PlanWeights)   \
  X(Cuts, 7, PlanCuts)

enum class PlanKind : uint32_t {
#define X(name, number, record) name = (number),
  SIMRT_PLAN_RECORDS(X)
#undef X
};

static_assert(sizeof(PlanHeader) == 128 && sizeof(PlanModule) == 16 && sizeof(PlanSite) == 16);
static_assert(sizeof(PlanPair) == 56 && sizeof(PlanStep) == 48 && sizeof(ScheduleItem) == 32);

}  // namespace simrt::format
