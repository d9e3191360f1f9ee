// The run file: the one file through which host and check build talk. Written before the start by the host
// (src/testing/run_file), mapped by the runtime (src/runtime/emit/run_file), read back by the host.
//
//   file  := RunHeader | plan (plan.h) | chunk*      (chunks end at RunHeader::used)
//   chunk := ChunkHeader record payload              (kRunAlign)
//
// The host makes the file with its full size; the runtime never grows it. `used` moves only past complete
// chunks, so that a process that dies at any point leaves a legal file. Chunks below `permanent` were
// written before main by a fork server and belong to all its executions; an execution starts behind them.
//
// Version rule: any change of a struct here, in plan.h or in event.h's list raises kRunVersion; either side
// refuses another one (a run file lives for one execution, so there is nothing to migrate).
#pragma once

#include <stdint.h>

#include "simrt/format/chunk.h"
#include "simrt/format/event.h"
#include "simrt/format/plan.h"

namespace simrt::format {

inline constexpr char kRunMagic[8] = {'S', 'I', 'M', 'R', 'T', 'R', 'U', 'N'};
inline constexpr uint32_t kRunVersion = 4;
inline constexpr uint64_t kRunAlign = 32;
/// "No thread", "no module", "no stack", "no lock set".
inline constexpr uint32_t kRunNone = UINT32_MAX;

/// The environment variable that names the run file (absolute path); unset = mode off.
inline constexpr char kRunVariable[] = "SIMRT_RUN";

/// The host's watchdog sends it, with sival_int 1 when the thread sleeps, to RunHeader::current_tid.
inline constexpr int kRunWatchdogSignal = 61;

/// Exit status of a process that the runtime ended because its status is neither Running nor Finished.
inline constexpr int kRunExitStatus = 86;

// How an execution stands or ended. X(name, number, meaning)
#define SIMRT_RUN_STATES(X)                                                                        \
  X(NotStarted, 0, "the runtime has not taken the plan up")                                        \
  X(Running, 1, "running, or ended by a crash, a signal or _exit")                                 \
  X(Finished, 2, "the process ended by its own will (exit, _exit, return from main)")              \
  X(Deadlock, 3, "nobody can go on and nothing can change that: RunWaits says who waits for what") \
  X(Diverged, 4, "the schedule to follow does not fit this execution (RunHeader::diverged_at)")    \
  X(PointLimit, 5, "PlanHeader::max_points were passed")                                           \
  X(TimeLimit, 6, "PlanHeader::max_milliseconds were over")                                        \
  X(Stopped, 7, "the schedule to follow was used up (StopAtSchedule)")                             \
  X(Livelock, 8, "all threads only look at memory that nobody changes any more")                   \
  X(Failed, 9, "the runtime could not work (no memory, plan not legal)")

// Why (part of) an execution was not, or is no longer, under control. Bits of RunHeader::uncontrolled;
// X(name, bit, meaning)
#define SIMRT_UNCONTROLLED(X)                                                                            \
  X(ForkedChild, 0, "a child process of the program ran on its own")                                     \
  X(ForeignThread, 1, "a thread that the runtime did not see start ran code of the program")             \
  X(BlockedOutside, 2, "a thread blocked in the kernel behind the engine's back; the watchdog went on")  \
  X(ProcessShared, 3, "synchronisation objects shared with other processes or robust ones are used")     \
  X(Exec, 4, "the program replaced itself (exec)")                                                       \
  X(TooManyThreads, 5, "more threads than the engine can hold")                                          \
  X(OutsideOrder, 6, "the moment at which a call that blocks in the kernel returned was not controlled") \
  X(SignalHandler, 7, "a signal handler of the program ran code with scheduling points")                 \
  X(Cancelled, 8, "a thread was cancelled")

// What a program reads and the engine does not control: where executions under one schedule differ, one of
// them decides. Indexes of RunHeader::inputs; X(name, number, meaning)
#define SIMRT_INPUTS(X)                                      \
  X(RandomNumber, 0, "random number")                        \
  X(RandomInstruction, 1, "random number of the processor")  \
  X(ProcessNumber, 2, "process number")                      \
  X(Clock, 3, "clock without virtual time")                  \
  X(FileStatus, 4, "time or number of a file")               \
  X(DirectoryOrder, 5, "order of a directory")               \
  X(SystemState, 6, "state of the system")                   \
  X(OtherProcess, 7, "input from outside the program")       \
  X(KeptFile, 8, "file that one execution leaves to others") \
  X(TemporaryName, 9, "random name of a file")               \
  X(TemporaryDirectory, 10, "directory of temporary files")  \
  X(Addresses, 11, "random addresses")

// X(name, bit, meaning)
#define SIMRT_RUN_FLAGS(X)                                                             \
  X(Overflow, 0, "the file was full: some chunks are missing")                         \
  X(EnabledCut, 1, "threads with an index over 63 are missing in RunEvent::enabled")   \
  X(PairMet, 2, "Pair: both accesses of a pair stood before the same address at once") \
  X(SequenceDone, 3, "Sequence: all steps happened in order")                          \
  X(HoldGivenUp, 4, "Pair, Sequence: a hold was given up at its bound")                \
  X(FindingsCut, 5, "there were more findings than findings_limit")

enum class RunState : uint32_t {
#define X(name, number, meaning) name = (number),
  SIMRT_RUN_STATES(X)
#undef X
};
enum class Input : uint32_t {
#define X(name, number, meaning) name = (number),
  SIMRT_INPUTS(X)
#undef X
};
#define X(name, number, meaning) +1
inline constexpr uint32_t kInputs = 0 SIMRT_INPUTS(X);
#undef X

#define X(name, bit, meaning) kUncontrolled##name = 1u << bit,
enum Uncontrolled : uint32_t { SIMRT_UNCONTROLLED(X) };
#undef X
#define X(name, bit, meaning) kRun##name = 1u << bit,
enum RunFlag : uint32_t { SIMRT_RUN_FLAGS(X) };
#undef X

/// The fork server: futex words in the file, so that no descriptor of the host exists in the program.
/// The host writes the plan, raises `request` and wakes it; the server forks a child that runs main with that
/// plan, waits for its end, stores wait_status and raises `reply`.
struct RunServer {
  uint32_t ready;    // 1 = stands before main and serves; 2 = cannot (there are threads): runs on, once
  uint32_t request;  // raised by the host; kRunNone = quit
  uint32_t reply;    // raised by the server to the request's number
  uint32_t child;    // process id of the running child, 0 between
  int32_t wait_status;
  uint32_t reserved;
};

/// The first time that an input of one kind was read. In the header and not among the chunks: signal handlers
/// read such, too, and take no lock.
struct RunInput {
  uint64_t pc;      // run-time return address of the call, or of the instruction; 0 = none
  uint64_t caller;  // where a library without hooks was called that made the call; 0 = not known
  uint32_t when;    // 0 = never; else 1 + RunHeader::events at the time. Written last
  uint32_t shared;  // 1 = before the fork server began to serve: all its executions have the same
  char name[24];    // function, instruction or beginning of a path; ends with a NUL
};

struct RunHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint64_t file_bytes;
  uint64_t plan_offset, plan_capacity;
  uint64_t output_offset;  // first chunk
  // From here on written by the runtime; the host clears it.
  uint64_t used;       // end of the complete chunks, from the start of the file
  uint64_t permanent;  // end of the chunks that belong to all executions
  RunInput inputs[kInputs];
  RunServer server;
  uint32_t pid;  // of the process under the plan; 0 = none yet
  uint32_t
      current_thread;    // who has the token; kRunNone = nobody (all wait, or someone is in a call outside)
  uint32_t current_tid;  // its kernel id, for the watchdog
  RunState state;
  uint32_t uncontrolled;  // Uncontrolled
  uint32_t flags;         // RunFlag
  uint32_t threads;       // started so far
  uint32_t outside;       // threads in calls that may block in the kernel
  int32_t exit_status;    // Finished
  uint32_t reserved;
  uint64_t points;     // scheduling points passed; moves at least every 4096 of them
  uint64_t decisions;  // those at which more than one thread could go on
  uint64_t switches;
  uint64_t preemptions;  // switches away from a thread that could have gone on
  uint64_t virtual_ns;   // virtual time since the start
  uint64_t diverged_at;  // Diverged: decision
  uint64_t events;       // written to RunEvents
  uint8_t padding[72];
};

/// An executable or shared object. Payload: path_bytes, then build_id_bytes (raw).
struct RunModule {
  uint32_t index;  // 0, 1, 2, ... in file order
  uint32_t path_bytes;
  uint32_t build_id_bytes;
  uint32_t executable;  // 1 = the main program
  uint64_t load_bias;   // run-time address = bias + module offset (an ELF virtual address)
  uint64_t begin, end;  // run-time range
};

/// Payload: frame_count x uint64_t run-time return addresses, the calls that led to the creation.
struct RunThread {
  uint32_t index;   // 0 = main
  uint32_t parent;  // kRunNone = unknown
  uint32_t frame_count;
  uint32_t reserved;
};

/// The schedule taken: items in order, in chunks; `count` is raised as they come.
/// Payload: capacity x ScheduleItem (module: RunModule::index).
struct RunSchedule {
  uint32_t count;
  uint32_t capacity;
};

/// What happened, one event each. Plain data of 40 bytes.
struct RunEvent {
  uint64_t object;   // address, or as event.h says
  uint64_t pc;       // run-time return address (look up pc - 1); 0 = unknown
  uint64_t enabled;  // bit t: thread t could have gone on instead, before this event (own bit included)
  uint32_t size;     // bytes
  uint16_t thread;
  uint8_t kind;      // EventKind
  uint8_t order;     // low bits, for atomics and fences: 0 relaxed, 1 acquire, 2 release, 3 both, 4 seq_cst
  uint32_t callers;  // RunStack::id of the calls that led to pc; kRunNone = not known (no detector was on)
  uint32_t value;    // atomic accesses: hashes of what it found (low half) and left; a half of 0 = not known
  uint64_t calls;    // RunCalls::hash; 0 = not known
};
/// Bit of RunEvent::order: the event has no scheduling point of its own (the lock taken again behind a wait).
/// The others are the decisions 1, 2, 3, ... of ScheduleItem::decision.
inline constexpr uint8_t kEventWithoutDecision = 0x80;
/// Bit of RunEvent::order of a Lock, LockShared, SemaphoreWait or Join, and of the TryFailed in its place: it
/// would not have waited but failed, so it could have come at any time.
inline constexpr uint8_t kEventTried = 0x40;

/// Payload: capacity x RunEvent.
struct RunEvents {
  uint32_t count;
  uint32_t capacity;
};

/// The calls behind events. Payload: frame_count x uint64_t run-time return addresses, innermost first: of
/// the calls that led into the function of RunEvent::pc.
struct RunCalls {
  uint64_t hash;
  uint32_t frame_count;
  uint32_t reserved;
};

// How a thread stands at the end of the execution. X(name, number, meaning)
#define SIMRT_WAIT_STATES(X)                                            \
  X(Ready, 1, "could go on")                                            \
  X(Blocked, 2, "waits for `object`")                                   \
  X(TimedBlocked, 3, "waits for `object` with a time limit, or sleeps") \
  X(Outside, 4, "in a call that may block in the kernel")               \
  X(Ended, 5, "ended")

enum class WaitState : uint32_t {
#define X(name, number, meaning) name = (number),
  SIMRT_WAIT_STATES(X)
#undef X
};

/// One thread at the end of an execution that the engine ended. Payload: held_count x HeldLock.
struct RunWait {
  uint32_t thread;
  WaitState state;
  EventKind kind;  // of the operation it is about to make
  uint16_t reserved;
  uint32_t stack;  // RunStack::id or kRunNone
  uint64_t object;
  uint64_t pc;
  uint32_t
      awaited;  // the thread that could end the wait where it is one (owner of the lock, thread to be joined)
  uint32_t held_count;
};

struct HeldLock {
  uint64_t lock;
  uint64_t pc;      // where it was acquired
  uint32_t stack;   // RunStack::id or kRunNone
  uint32_t shared;  // 1 = read side
};

/// A call stack. Payload: frame_count x uint64_t run-time return addresses, innermost first.
struct RunStack {
  uint32_t id;  // 0, 1, 2, ...
  uint32_t frame_count;
};

/// Payload: count x HeldLock.
struct RunLockSet {
  uint32_t id;  // 0, 1, 2, ...
  uint32_t count;
};

/// One side of a finding.
struct FindingAccess {
  uint64_t pc;
  uint64_t address;
  uint32_t size;
  uint32_t stack;     // RunStack::id or kRunNone
  uint32_t lock_set;  // RunLockSet::id or kRunNone
  uint16_t thread;
  uint8_t kind;   // EventKind
  uint8_t order;  // as in RunEvent
};

// Bits of the `flags` of findings. X(name, bit, meaning)
#define SIMRT_FINDING_FLAGS(X)                                                               \
  X(Witnessed, 0, "it happened in this very execution")                                      \
  X(Predicted, 1, "another schedule could show it: not a proof")                             \
  X(FreedMemory, 2, "one side is the release of the memory")                                 \
  X(SameLock, 3, "lock cycle: of one lock taken twice")                                      \
  X(Gated, 4, "lock cycle: a common lock protects it")                                       \
  X(HandedOver, 5, "race: a lock under which data may have passed on ordered it here; weak") \
  X(Loop, 6, "atomicity: the thread also came from its last access to its first, as loops do; weak")

#define X(name, bit, meaning) kFinding##name = 1u << bit,
enum FindingFlag : uint32_t { SIMRT_FINDING_FLAGS(X) };
#undef X

/// Bit of RunRace::id: written by the engine (strategy Pair), not by the detector; other numbers.
inline constexpr uint32_t kEngineFinding = 1u << 31;

struct RunRace {
  uint32_t id;
  uint32_t flags;               // FindingFlag
  uint32_t variable;            // number of the memory it is about: RunVariable::id, or kRunNone
  uint32_t times;               // how often it was seen; raised in place
  FindingAccess first, second;  // in the order in which they happened
};

/// Payload: count x LockEdge; edge i holds `held` and asks for `wanted`, which edge i + 1 holds.
struct RunLockCycle {
  uint32_t id;
  uint32_t flags;
  uint32_t count;
  uint32_t times;
};
struct LockEdge {
  uint64_t held, wanted;
  uint64_t held_pc, wanted_pc;
  uint32_t held_stack, wanted_stack;
  uint32_t lock_set;  // held at the request
  uint16_t thread;
  uint8_t held_shared, wanted_shared;
};

/// Accesses of one thread (local) with those of another (remote) in between; unserialisable.
struct RunAtomicity {
  uint32_t id;
  uint32_t flags;
  uint32_t pattern;  // number of the memory-access pattern, 4 to 17
  uint32_t count;    // 3 or 4 accesses
  uint32_t variables;
  uint32_t times;
  FindingAccess accesses[4];
};

/// The memory behind findings: a block of the heap, a global, a stack.
struct RunVariable {
  uint32_t id;
  uint32_t thread;  // that allocated it, or whose stack it is; kRunNone = a global
  uint64_t address, size;
  uint64_t pc;  // allocation
  uint32_t stack;
  uint32_t reserved;
};

/// A site that touches a variable with a race. Payload: count x RacySite.
struct RunRacySites {
  uint32_t variable;
  uint32_t count;
};
struct RacySite {
  uint64_t pc;
  uint64_t address;
  uint32_t size;
  uint16_t thread;
  uint8_t kind;  // EventKind
  uint8_t reserved;
};

// Every kind of chunk: X(name, number, record). Append only.
#define SIMRT_RUN_RECORDS(X)     \
  X(Module, 1, RunModule)        \
  X(Thread, 2, RunThread)        \
  X(Schedule, 3, RunSchedule)    \
  X(Events, 4, RunEvents)        \
  X(Wait, 5, RunWait)            \
  X(Stack, 6, RunStack)          \
  X(LockSet, 7, RunLockSet)      \
  X(Race, 8, RunRace)            \
  X(LockCycle, 9, RunLockCycle)  \
  X(Atomicity, 10, RunAtomicity) \
  X(Variable, 11, RunVariable)   \
  X(RacySites, 12, RunRacySites) \
  X(Calls, 13, RunCalls)

enum class RunKind : uint32_t {
#define X(name, number, record) name = (number),
  SIMRT_RUN_RECORDS(X)
#undef X
};

template <class Record>
struct RunKindOf;
#define X(name, number, record)                     \
  template <>                                       \
  struct RunKindOf<record> {                        \
    static constexpr RunKind value = RunKind::name; \
  };
SIMRT_RUN_RECORDS(X)
#undef X

static_assert(sizeof(RunServer) == 24 && sizeof(RunEvent) == 48);
static_assert(sizeof(RunInput) == 48 && sizeof(RunHeader) == 256 + sizeof(RunInput[kInputs]));
static_assert(sizeof(RunModule) == 40 && sizeof(RunThread) == 16 && sizeof(RunWait) == 40);
static_assert(sizeof(HeldLock) == 24 && sizeof(FindingAccess) == 32 && sizeof(LockEdge) == 48);
static_assert(sizeof(RunRace) == 80 && sizeof(RunAtomicity) == 152 && sizeof(RunVariable) == 40);
static_assert(sizeof(RacySite) == 24);

}  // namespace simrt::format
