// The state of recording in one process: its modules, its threads, and which map each pair writes to.
//
// Maps are assigned eagerly: a thread gets one map of every open module when it starts, a module gets one map
// of every live thread when it opens. The hooks therefore never ask anything; they store through the module's
// map pointer of the thread (module_abi.h), which this code sets, also for other threads.
// When a thread ends, what it covered is written out as a list and the map goes to the next thread, so that
// the file grows with the threads alive at once, not with all threads ever.
//
// One lock for everything; it is taken when threads and modules come and go, never on a hit.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cover/module_abi.h"
#include "emit/trace_file.h"
#include "simrt/format/trace.h"
#include "sys/image.h"
#include "sys/lock.h"
#include "sys/memory.h"

namespace simrt::runtime {

/// A module of the trace. Objects live as long as the process: a closed one is opened again under its index.
struct Module {
  uint32_t index = 0;
  format::ModuleKind kind = format::ModuleKind::Plain;
  simrt_module* abi = nullptr;  // null while closed
  Image image;
  Path path;
  unsigned char build_id[64] = {};
  uint32_t build_id_bytes = 0;
  uint32_t slots = 0;
  uint32_t stride = 0;
  uint64_t cells_bytes = 0;
  Array<uint64_t> table;  // PcTableRecord entries; kept for the file of a forked child
  Array<format::MapRecord*> free_maps;
  format::MapRecord* shared = nullptr;  // what several or unknown threads covered; made on demand

  /// What the map pointer of a thread must be for hits to land in `map`; 0 = in the guards themselves.
  intptr_t pointer_to(format::MapRecord* map) const;
  /// Sets the map pointer of the thread with this thread pointer.
  void point(uintptr_t thread_pointer, format::MapRecord* map) const;
};

/// A thread that the trace knows. Objects are reused when their thread has ended.
struct Thread {
  uint32_t index = 0;
  uintptr_t pointer = 0;  // its thread pointer; 0 = not running yet
  format::ThreadRecord* record = nullptr;
  Array<format::MapRecord*> maps;  // by module index; null = none, or it shares
  size_t live_position = 0;        // in Recorder::live_
  void (*routine)() = nullptr;     // what the thread is to run; intercept/threads.cc knows its real type
  void* argument = nullptr;
};

/// The calls that led to the creation of a thread: run-time return addresses, innermost first.
struct CallChain {
  static constexpr size_t kCapacity = 64;
  uintptr_t frames[kCapacity] = {};
  size_t count = 0;
};

class Recorder {
 public:
  /// Reads the environment and creates the trace; the calling thread becomes thread 0. Idempotent; does
  /// nothing while libc has no environment yet. Everything below calls it first.
  void start();
  bool recording() const { return load_acquire(recording_); }

  /// True when it is the main program.
  bool open_module(simrt_module* abi);
  void close_module(simrt_module* abi);

  /// Whether thread_created is worth its arguments.
  bool will_create_thread() {
    start();
    return recording();
  }
  /// For the thread that is about to create another one. Null when not recording or out of memory.
  Thread* thread_created(const CallChain& chain);
  /// pthread_create failed after all.
  void thread_not_started(Thread* thread);
  /// On the new thread, before its first instruction of the program.
  void thread_started(Thread* thread);
  /// On the thread, behind its last destructor.
  void thread_ended(Thread* thread);

  /// Around fork(): no other thread is inside the recorder while the process is copied.
  void fork_prepare();
  void fork_parent();
  void fork_child();

  /// exit() has begun: modules are no longer taken for unloaded when their destructors run.
  void exit_begun() { store_release(exiting_, true); }
  /// The last destructor of the process.
  void finish();

 private:
  enum class Progress : uint32_t { NotStarted, Off, On };

  // recorder.cc
  void open_trace(uint32_t parent_pid, uint32_t parent_thread, bool forked);
  Thread* new_thread(uint32_t parent, const CallChain& chain);
  void attach(Thread* thread);
  void detach(Thread* thread);
  void restart_in_child();
  void adopt_unknown_child();

  // modules.cc
  Module* find_known(const Module& description);
  Module* describe(simrt_module* abi);
  Module* instrumented_module_at(uintptr_t address);
  Module* module_at(uintptr_t address);
  bool emit(Module& module);
  void begin_module(Module& module);

  // maps.cc
  format::MapRecord* take_map(Module& module, Thread& thread);
  format::MapRecord* new_map(Module& module, uint32_t owner, uint64_t reserve);
  format::MapRecord* shared_map(Module& module);
  bool write_covered(Module& module, const Thread& thread, format::MapRecord* map);
  void give_map(Module& module, Thread& thread);
  /// Moves the hits that are in the guards themselves to `map` (null: drops them).
  void fold_guards(Module& module, format::MapRecord* map);
  bool has_guard_hits(const Module& module) const;

  SpinLock lock_;
  Progress progress_ = Progress::NotStarted;
  bool recording_ = false;
  bool exiting_ = false;
  Path name_;  // SIMRT_TRACE, absolute
  uint64_t limit_ = 0;
  TraceFile file_;
  Array<Module*> modules_;  // by index
  Module* scratch_ = nullptr;
  Array<Thread*> live_;   // running threads
  Array<Thread*> spare_;  // Thread objects to reuse
  uint32_t next_thread_ = 0;
  uint64_t reserve_ = 0;  // bytes kept for shared maps
  uint32_t* fork_witness_ =
      nullptr;  // nonzero in the process that set it: the kernel zeroes it in a forked child
};

extern Recorder recorder;

/// The calling thread's object; null for threads the runtime did not see start.
Thread* current_thread();

/// Restores errno at the end of a scope: the program must not see that the runtime was here.
class KeepErrno {
 public:
  KeepErrno();
  ~KeepErrno();
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int saved_;
};

}  // namespace simrt::runtime
