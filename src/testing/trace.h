// The host's side of the cover trace (simrt/format/trace.h): one process' file as plain values.
// Must not know tests, coverage of the history, or symbols: program counters stay module offsets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/result.h"

namespace simrt::testing {

/// An instrumented executable or shared object. A file with code of clang and of gcc appears twice.
struct TraceModule {
  std::string path;      ///< absolute; empty when the process could not tell
  std::string build_id;  ///< GNU build id in hex; empty when the file has none
  /// ELF virtual address of each guard. clang: start of the guard's block, 0 = removed by the optimiser;
  /// gcc: return address of the hook's call (look up pc - 1).
  std::vector<std::uint64_t> pcs;
  std::vector<bool> entry;    ///< parallel to pcs: function entry (clang only)
  bool pc_list_only = false;  ///< gcc: pcs are all hook calls found in the text, without entry marks
  bool instrumented = true;   ///< false: only named by creation sites
};

/// One call on the way to a thread's creation.
struct TraceFrame {
  std::uint32_t module = 0;  ///< index into Trace::modules
  std::uint64_t offset = 0;  ///< ELF virtual address of the return address (look up offset - 1)
};

struct TraceThread {
  std::uint32_t index = 0;   ///< 0 is the thread that started the recording; others in the order of creation
  std::uint32_t parent = 0;  ///< index of the creator; kNoThread for thread 0 and when the creator is unknown
  std::string site;          ///< innermost frame as "<file name of module>+0x<offset>"; "" when unknown
  std::uint64_t site_offset = 0;
  std::uint32_t site_module = 0;
  std::uint32_t ordinal = 0;       ///< among the threads of the same parent and site, from 0
  std::vector<TraceFrame> frames;  ///< innermost first, instrumented modules only; empty when unknown
  bool alive_at_end = false;
  std::vector<std::vector<std::uint32_t>> covered;  ///< per module: indexes into pcs, sorted, unique
};
inline constexpr std::uint32_t kNoThread = UINT32_MAX;

struct Trace {
  std::vector<TraceModule> modules;
  std::vector<TraceThread> threads;  ///< ascending index; threads that were never started are left out
  /// Per module: what several threads, or threads that are not known, covered (see `overflowed`). Counts as
  /// covered by two threads.
  std::vector<std::vector<std::uint32_t>> shared;
  bool complete = false;    ///< exit handlers ran to the end; false after a crash, kill, _exit or exec
  bool overflowed = false;  ///< `shared` is in use, or some coverage was lost
  bool forked = false;  ///< a fork of process `parent_pid`, thread `parent_thread`, that did not exec (yet)
  std::uint32_t pid = 0, parent_pid = 0;
  std::uint32_t parent_thread = kNoThread;
  std::uint64_t started_ns = 0;    ///< CLOCK_REALTIME
  std::vector<std::string> notes;  ///< one line each, for people: what is unusual about the run or the file
};

/// Reads one trace. The file is foreign input: every count, index and length is checked. Fails with
/// ErrorCode::Execution when it is no trace of this version (missing, cut inside the header, garbage); a file
/// that is damaged further in is read up to the damage, with a note. May be called while the process still
/// runs.
Result<Trace> read_trace(const std::string& path);

/// Every trace that a test left behind: `path` itself, and "<path>.<pid>[.<n>]" of the processes it forked or
/// started; first `path`, then ascending. Only files that exist.
std::vector<std::string> trace_files(const std::string& path);

}  // namespace simrt::testing
