// Controlled execution: one thread at a time, chosen at scheduling points.
//
// The thread that runs has the token (Engine::running); everything here but arrive() is called by its owner,
// so there is no lock. Who cannot go on, or is not chosen, sleeps on its own futex word. The last one with
// the token does the waiting for the kernel (waiting.cc), so the token is never without an owner. A
// scheduling point costs a few instructions until something has to be decided: `next_stop` is the number of
// the next point at which the engine looks around. It is lowered whenever something may have let another
// thread go on.
#pragma once

#include <poll.h>
#include <stdint.h>

#include "control/event_log.h"
#include "control/object.h"
#include "control/plan_view.h"
#include "control/reach.h"
#include "control/schedule.h"
#include "control/strategy.h"
#include "control/thread.h"

namespace simrt::rt::control {

enum class Outcome : uint8_t { Done, TimedOut, Cancelled };

class Engine {
 public:
  // What the fast path of point() reads.
  uint64_t points = 0;     // scheduling points passed
  uint64_t next_stop = 0;  // look around at this one
  uint64_t changes = 0;    // operations that could change what a spinning thread looks at
  Thread* running = nullptr;
  PlanView plan;
  Objects objects;

  /// On the first thread, before the program's own code.
  void start(Thread* first);

  /// A scheduling point before `operation` of the calling thread, which waits there until the condition
  /// holds, the deadline is over or it is cancelled, and until it is chosen.
  Outcome await(const Operation& operation, const Wait& wait);
  void step(const Operation& operation) { await(operation, Wait{}); }
  /// The same where the caller has counted the point.
  void stop(Thread* self, bool yields);
  /// A point that asks to let others go first.
  void yield(uintptr_t pc);
  /// A look at the clock or at a descriptor: no point, but loops of it must not hold up the others.
  void glance(uintptr_t pc, uintptr_t object);

  /// Something may have let other threads go on: look around at the next point.
  void disturb() { next_stop = 0; }
  /// The operation of the last point was of another kind in the end.
  void amend(EventKind kind) { events_.amend(kind); }
  bool records_events() const { return events_.wanted(); }
  /// RunEvent::value of the operation of the last point.
  void note_value(uint32_t hashes) { events_.note_value(hashes); }
  /// An event without a point of its own.
  void note(EventKind kind, uintptr_t object, uintptr_t pc) { note({kind, 0, 0, object, pc}); }
  void note(const Operation& operation);
  /// A plain access that is no point, where the plan wants it recorded.
  void note_unwatched(const Operation& operation);
  /// Which waiter a notification wakes.
  uint32_t choose_waiter(const Object& object, const Operation& operation);
  /// Whether a waiter of a condition variable is to wake for no reason.
  bool spurious(const Operation& operation);

  // Threads. Indexes are given out by the caller (intercept).
  void add(Thread* thread) { add_live(thread); }
  /// On a new thread: waits until it is chosen for the first time.
  void begin(Thread* self);
  /// Gives the token away for good.
  void end(Thread* self);
  void never_began(Thread* thread);

  // Calls that may block in the kernel: leave(), the call, come_back().
  void leave(Thread* self, uintptr_t pc);
  void come_back(Thread* self);
  /// From a signal handler on the thread with the token, which sleeps in the kernel or runs without points.
  void pass_on(Thread* self, bool sleeps);
  /// Whether the calling thread may pass points; takes up foreign threads and those that were passed over.
  bool enter(Thread*& self);

  /// Calls it on every other thread that there is, once, when its turn comes.
  void at_next_turn(void (*call)());
  /// Called on a foreign thread when it is taken up.
  void (*on_foreign)(Thread* self) = nullptr;
  /// Who could make one of the descriptors ready. Null: anybody.
  Reach (*reach_of)(const struct pollfd* polls, uint32_t count) = nullptr;
  /// Whether somebody else could come into this process: signals, threads that are not among the `threads`
  /// that the engine knows.
  bool (*has_visitors)(uint32_t threads) = nullptr;
  /// Something outside (an armed timer) may start a foreign thread: nobody to go on is no deadlock for a
  /// while.
  void expect_foreign();

  uint64_t now() const { return clock_ + points * kPointNanoseconds; }
  void advance(uint64_t nanoseconds) { clock_ += nanoseconds; }
  /// Descriptors may have become ready.
  void io_happened() {
    ++io_changes_;
    if (polling_ > 0) disturb();
  }
  /// Descriptors may stand for something else, or be in other hands.
  void descriptors_changed() {
    ++descriptor_changes_;
    io_happened();
  }

  [[noreturn]] void end_run(format::RunState state);
  void publish();
  const runtime::Array<Thread*>& threads() const { return all_; }

 private:
  static constexpr uint32_t kMaxLive = 1024;
  static constexpr uint64_t kPointNanoseconds = 10;
  static constexpr uint64_t kLookAgain = 256;  // points after which descriptors are looked at in any case

  // engine.cc
  Thread* pick(Thread* self, bool yields);
  uint32_t choose(const Decision& decision);
  void look_at_races();
  uint32_t follow(const Decision& decision);
  void plan_next_stop(uint32_t count);
  void hand_over(Thread* self, Thread* next);
  void park(Thread* self);
  void add_live(Thread* thread);
  void remove_live(Thread* thread);
  void diverged();

  // waiting.cc
  uint32_t gather(Thread* self);
  bool holds(const Thread& thread) const;
  bool can_go_on(Thread& thread);
  Outcome outcome_of(const Thread& thread) const;
  EventKind kind_at_wake(const Thread& thread) const;
  void idle();
  void idle_outside(uint64_t deadline);
  bool collect_polls();
  Reach reach();
  void let_arrive();
  bool any_ready() const;
  bool has_ready(const Thread& thread) const;
  bool let_spinners_go();
  void count_spin_round();
  /// Whether all have long been doing nothing but looking at memory that nobody changed.
  bool only_looking() const {
    return spin_rounds_ > kFewestSpinRounds && spin_changes_ == changes && waits_for_others();
  }
  /// The only thread that there ever was waits for nobody: it works through something.
  bool waits_for_others() const { return all_.size() > 1; }
  void admit();
  void admit_in_order(Thread* list);
  bool is_cycle(const Thread* self) const;

  Schedule schedule_;
  EventLog events_;
  Strategy* strategy_ = nullptr;
  Random noise_;
  runtime::Array<Thread*> all_;  // by index
  Thread* live_[kMaxLive] = {};  // Created (not yet begun) to Outside, ascending
  uint32_t live_count_ = 0;
  Candidate candidates_[kMaxLive];
  uint64_t clock_ = 0;  // virtual time without what points add
  uint64_t first_deadline_ = Wait::kForever;
  uint64_t last_switch_ = 0;
  uint64_t decisions_ = 0, switches_ = 0, preemptions_ = 0;
  uint32_t races_seen_ = 0;  // of FindingWriter::witnessed()
  uint64_t max_points_ = 0;
  uint64_t real_end_ = 0;        // real time at which the run ends; 0 = none
  uint64_t next_real_look_ = 0;  // point at which to compare
  uint32_t outside_ = 0, polling_ = 0;
  uint64_t io_changes_ = 1, descriptor_changes_ = 1;
  mutable bool looks_at_each_point_ = false;
  uint64_t foreign_until_ = 0;   // real time up to which a foreign thread may come
  uint64_t arriving_since_ = 0;  // real time since which nobody could go on but what is under way; 0 = not so
  static constexpr uint64_t kFewestSpinRounds = 10'000;  // that make a livelock
  uint64_t spin_rounds_ = 0, spin_changes_ = 0;
  uint64_t most_spin_rounds_ = 0;
  int32_t ending_tid_ = 0;
  int32_t arrivals_ = 0;  // futex: raised by each arrival
  Thread* arrived_ = nullptr;
  void (*turn_call_)() = nullptr;
};

extern Engine engine;

/// While it lives, signal handlers of the program that run on this thread pass no points.
class Inside {
 public:
  explicit Inside(Thread* self) : self_(self) {
    if (self_ != nullptr) ++self_->inside;
  }
  ~Inside() {
    if (self_ != nullptr) --self_->inside;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Thread* self_;
};

/// Real time for the idle loop and mode RealTime, nanoseconds of CLOCK_MONOTONIC.
uint64_t real_now();

}  // namespace simrt::rt::control
