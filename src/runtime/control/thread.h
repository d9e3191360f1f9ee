// The threads of the program as the engine sees them: what each is about to do and what it waits for.
#pragma once

#include <poll.h>
#include <pthread.h>
#include <stdint.h>

#include "control/calls.h"
#include "control/operation.h"
#include "control/spin.h"
#include "simrt/format/run.h"
#include "sys/memory.h"

namespace simrt::rt::control {

struct Object;

enum class Standing : uint8_t {
  Created,  // not born yet (pthread_create has not returned)
  Alive,    // at a scheduling point, or running
  Outside,  // in a call that may block in the kernel, without the token
  Ended
};

/// What must hold for a thread to go on.
enum class Until : uint8_t {
  Now,
  Never,           // a sleep: only its deadline ends it
  LockFree,        // object has no owner (mutex, spin lock, write side: and no readers)
  NoWriter,        // object has no owner, and no writer that is first
  Notified,        // thread was notified; and `second` (the mutex of a condition variable) has no owner
  CountPositive,   // object's count
  RoundOver,       // object's round is not `ticket` any more (barrier)
  OnceSettled,     // *word says that no initialiser runs
  ThreadEnded,     // target
  Descriptors,     // a descriptor of `polls` is ready
  OutsideReturned  // its call has returned
};

struct Wait {
  static constexpr uint64_t kForever = UINT64_MAX;
  Until until = Until::Now;
  Object* object = nullptr;
  Object* second = nullptr;
  struct Thread* target = nullptr;
  const int* word = nullptr;
  uint64_t ticket = 0;
  uint64_t deadline = kForever;  // virtual time
  struct pollfd* polls = nullptr;
  uint32_t poll_count = 0;
  bool cancellable = false;
};

/// What is known of the descriptors that a thread waits for, so that the kernel is not asked at each point.
struct Looks {
  uint64_t change = 0;  // Engine::io_changes_ when they were not ready; 0 = look
  uint64_t shape = 0;   // Engine::descriptor_changes_ when it was asked who can make them ready
  uint64_t point = 0;
  uint32_t count = 0;
  bool within = false;  // only threads of the program can
};

struct Held {
  uintptr_t lock;
  uintptr_t pc;
  bool shared;
};

struct Thread {
  uint32_t index = 0;
  uint32_t parent = format::kRunNone;
  Standing standing = Standing::Created;
  bool notified = false;   // by the one that ended its wait
  bool spurious = false;   // that was nobody
  bool cancelled = false;  // pthread_cancel was called for it
  bool joined = false;     // its handle is not valid any more
  bool detached = false;
  bool pending_change = false;  // its last operation may have changed memory that others look at
  bool spin_due = false;        // its last update changed nothing once too often
  bool returned = false;        // Outside: its call is over
  bool called_at_turn = false;  // Engine::at_next_turn
  uint8_t inside = 0;           // runs code of the engine: signal handlers must not come back in
  int32_t go = 0;               // futex: 1 = has the token
  int32_t tid = 0;              // of the kernel
  pthread_t handle = {};
  bool has_handle = false;
  bool signals_held = false;  // its creator blocked them until it is known
  uint64_t signal_mask = 0;   // what they are to be then, as the kernel has it
  uint64_t spin_mark = 0;     // Engine::changes when it was found spinning; only a change lets it go on
  bool spinning = false;
  Operation operation;  // the next one
  Wait wait;
  mutable Looks looks;
  Spin spin;
  Calls calls;
  Thread* next_arrived = nullptr;
  runtime::Array<Held> held;
  void (*routine)() = nullptr;
  void* argument = nullptr;
};

/// The calling thread; null for one the runtime has not seen yet.
extern constinit thread_local Thread* current_thread [[gnu::tls_model("initial-exec")]];

}  // namespace simrt::rt::control
