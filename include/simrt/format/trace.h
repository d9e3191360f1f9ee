// The cover trace: which instrumented block ran in which thread of one process.
// Written by the runtime inside the test program (src/runtime/emit), read by the host
// (src/testing/trace.cc); nothing else may know this layout.
//
// A trace is a file that the runtime maps into memory and only ever appends to:
//
//   trace   := TraceHeader chunk*            (chunks end at TraceHeader::used)
//   chunk   := ChunkHeader record payload    (ChunkHeader::bytes in all, a multiple of kTraceAlign)
//
// The header's `used` moves only past complete chunks, so a process that dies at any point (signal,
// abort, _exit, kill -9) leaves a legal file with everything it had covered. Three things change
// after they were published, each by one aligned store: the flags of the header, the state of a
// thread, the owner of a map, the count of a covered record, and the bytes of a map.
//
// Version rule: any change of a struct below raises kTraceVersion; the host refuses other versions
// (a trace lives for one test run, so there is nothing to migrate).
#pragma once

#include <stdint.h>

#include "simrt/format/chunk.h"

namespace simrt::format {

inline constexpr char kTraceMagic[8] = {'S', 'I', 'M', 'R', 'T', 'T', 'R', 'C'};
inline constexpr uint32_t kTraceVersion = 1;
inline constexpr uint64_t kTraceAlign = 64;
/// "No thread", "no module".
inline constexpr uint32_t kTraceNone = UINT32_MAX;

/// The environment variable that names the trace file (absolute path); unset = recording is off.
/// The first process takes the name itself; forked and exec'ed ones find it taken and use
/// "<name>.<pid>", then "<name>.<pid>.1", ... so no process ever writes to another one's file.
inline constexpr char kTraceVariable[] = "SIMRT_TRACE";
/// Optional: upper bound of one trace file in bytes; beyond it threads share one map (kTraceOverflow).
inline constexpr char kTraceLimitVariable[] = "SIMRT_TRACE_LIMIT";

// X(name, bit, meaning)
#define SIMRT_TRACE_FLAGS(X)                                                                  \
  X(Finished, 0, "the process ran its exit handlers to the end")                              \
  X(Overflow, 1, "the file limit was reached: some threads share the map of several threads") \
  X(Lost, 2, "some coverage could not be stored at all (no space)")                           \
  X(Forked, 3, "the process was forked by another recorded process")                          \
  X(Unattributed, 4, "code ran in threads that the runtime did not see start")

enum TraceFlag : uint32_t {
#define X(name, bit, meaning) kTrace##name = 1u << bit,
  SIMRT_TRACE_FLAGS(X)
#undef X
};

struct TraceHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;  // where the first chunk starts
  uint64_t used;          // bytes of the file that hold complete chunks, header included
  uint32_t flags;         // TraceFlag
  uint32_t pid;
  uint32_t parent_pid;     // Forked: the process that forked; else getppid()
  uint32_t parent_thread;  // Forked: index, in the parent's trace, of the thread that forked; else kTraceNone
  uint64_t started_ns;     // CLOCK_REALTIME
  uint8_t reserved[16];
};

enum class ModuleKind : uint32_t {
  Guards = 1,     // clang trace-pc-guard: slot i is guard i; its cell is one byte of `stride`
  CallSites = 2,  // gcc trace-pc: slot s stands for `stride` bytes of text; cell = 0x80 | low bits of the
                  // return address
  Plain = 3       // not instrumented; named only by creation sites
};

/// One executable or shared object (a mixed clang and gcc link has one of each kind). A module that is
/// closed and opened again keeps its index.
/// Payload: path_bytes of absolute path, then build_id_bytes of GNU build id (raw).
struct ModuleRecord {
  uint32_t index;  // 0, 1, 2, ... in file order
  ModuleKind kind;
  uint64_t load_bias;   // run-time address = bias + module offset (an ELF virtual address)
  uint64_t text_start;  // CallSites: module offset of slot 0
  uint32_t slots;
  uint32_t stride;
  uint32_t path_bytes;
  uint32_t build_id_bytes;
};

/// The code that each slot's coverage speaks of. Guards: entry i belongs to guard i.
/// CallSites: the return addresses of all calls of the hook, ascending.
/// Payload: count x uint64_t, (module offset << 1) | is function entry.
struct PcTableRecord {
  uint32_t module;
  uint32_t count;
};

struct TraceFrame {
  uint32_t module;
  uint32_t reserved;
  uint64_t offset;  // module offset of the return address (look up offset - 1)
};

enum class ThreadState : uint32_t { Created = 1, Running = 2, Ended = 3, NotStarted = 4 };

/// Payload: frame_count x TraceFrame, the calls that led to the thread's creation, innermost first.
struct ThreadRecord {
  uint32_t index;  // 0 = the thread that started the recording (main, or the one that forked)
  uint32_t parent;
  ThreadState state;
  uint32_t frame_count;
};

/// What a thread has covered so far in one module; cells are nonzero when covered.
/// Payload: slots * stride bytes (Guards), slots bytes (CallSites).
struct MapRecord {
  uint32_t module;
  uint32_t owner;  // thread index, kTraceNone = free, kTraceShared = several threads
  uint64_t cells_bytes;
  uint8_t reserved[16];
};
inline constexpr uint32_t kTraceShared = UINT32_MAX - 1;

/// What a thread that ended (its map was given to another one) had covered.
/// Payload: count x uint32_t, ascending. Guards: guard index; CallSites: return address - text_start.
struct CoveredRecord {
  uint32_t module;
  uint32_t thread;
  uint32_t count;     // set last: 0 until the items are in place
  uint32_t capacity;  // items that fit
};

// Every kind of chunk: X(name, number, record). The writer, the reader and the dumper expand from it.
#define SIMRT_TRACE_RECORDS(X) \
  X(Module, 1, ModuleRecord)   \
  X(PcTable, 2, PcTableRecord) \
  X(Thread, 3, ThreadRecord)   \
  X(Map, 4, MapRecord)         \
  X(Covered, 5, CoveredRecord)

enum class TraceKind : uint32_t {
#define X(name, number, record) name = (number),
  SIMRT_TRACE_RECORDS(X)
#undef X
};

template <class Record>
struct TraceKindOf;
#define X(name, number, record)                         \
  template <>                                           \
  struct TraceKindOf<record> {                          \
    static constexpr TraceKind value = TraceKind::name; \
  };
SIMRT_TRACE_RECORDS(X)
#undef X

static_assert(sizeof(TraceHeader) == 64 && sizeof(ChunkHeader) == 16);
static_assert(sizeof(ModuleRecord) == 40 && sizeof(PcTableRecord) == 8 && sizeof(TraceFrame) == 16);
static_assert(sizeof(ThreadRecord) == 16 && sizeof(MapRecord) == 32 && sizeof(CoveredRecord) == 16);

}  // namespace simrt::format
