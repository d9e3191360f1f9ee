#include "control/engine.h"

#include <unistd.h>

#include "control/witness.h"
#include "emit/findings.h"
#include "emit/run_file.h"
#include "sys/futex.h"

namespace simrt::rt::control {

using format::ChoiceKind;
using format::RunState;

constinit Engine engine;
constinit thread_local Thread* current_thread [[gnu::tls_model("initial-exec")]] = nullptr;

namespace {

constexpr uint64_t kLookAround = 4096;  // points between two looks at arrivals; also of the published counter
constexpr uint64_t kFairShare = 50000;  // points without a switch, then the others go first
constexpr uint64_t kDefaultMaxPoints = 200'000'000;
constexpr uint64_t kPatientPoints = 10'000'000;  // allowed by who asks whether a livelock lasts

}  // namespace

void Engine::start(Thread* first) {
  strategy_ = find_strategy(plan.header.strategy);
  if (strategy_ != nullptr) strategy_->begin(plan.settings);
  schedule_.begin(plan);
  events_.begin((plan.header.flags & format::kPlanRecordEvents) != 0);
  noise_.seed(plan.header.seed ^ 0x5370757269757321u);
  max_points_ = plan.header.max_points == 0 ? kDefaultMaxPoints : plan.header.max_points;
  const bool patient = plan.header.max_points >= kPatientPoints;
  most_spin_rounds_ = patient ? plan.header.max_points / Spin::kRepeats : kFewestSpinRounds;
  if (plan.header.max_milliseconds != 0) real_end_ = real_now() + plan.header.max_milliseconds * 1'000'000;
  first->standing = Standing::Alive;
  running = first;
  run_file.header().current_thread = first->index;
  run_file.header().current_tid = static_cast<uint32_t>(first->tid);
  if (live_count_ == 0) add_live(first);
}

void Engine::add_live(Thread* thread) {
  if (live_count_ == kMaxLive) {
    run_file.set_uncontrolled(format::kUncontrolledTooManyThreads);
    end_run(RunState::Failed);
  }
  uint32_t at = live_count_++;
  for (; at > 0 && live_[at - 1]->index > thread->index; --at) live_[at] = live_[at - 1];
  live_[at] = thread;
  if (all_.extend(thread->index + 1)) all_[thread->index] = thread;
}

void Engine::remove_live(Thread* thread) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < live_count_; ++i)
    if (live_[i] != thread) live_[kept++] = live_[i];
  live_count_ = kept;
}

Outcome Engine::await(const Operation& operation, const Wait& wait) {
  Thread* self = current_thread;
  if (self->pending_change) {
    ++changes;
    self->spin.reset();
  }
  self->pending_change = !only_looks(operation.kind);
  self->operation = operation;
  self->operation.calls = self->calls.hash();
  self->wait = wait;
  self->looks = Looks{};
  if (++points < next_stop && holds(*self)) {
    self->wait = Wait{};
    return Outcome::Done;
  }
  if (wait.until == Until::LockFree && wait.deadline == Wait::kForever && !holds(*self) && is_cycle(self))
    end_run(RunState::Deadlock);
  if (wait.object != nullptr) ++wait.object->asking;
  if (wait.second != nullptr) ++wait.second->asking;
  if (wait.poll_count > 0) ++polling_;
  stop(self, false);
  if (wait.poll_count > 0) --polling_;
  if (wait.second != nullptr) --wait.second->asking;
  if (wait.object != nullptr) --wait.object->asking;
  const Outcome outcome = outcome_of(*self);
  self->wait = Wait{};
  return outcome;
}

void Engine::stop(Thread* self, bool yields) {
  const Inside inside(self);
  Thread* next = pick(self, yields);
  if (next != self) hand_over(self, next);
}

void Engine::yield(uintptr_t pc) {
  Thread* self = current_thread;
  if (self->pending_change) {
    ++changes;
    self->spin.reset();
    self->pending_change = false;
  }
  self->operation = {EventKind::Yield, 0, 0, 0, pc};
  ++points;
  if (self->spin.look(pc, 0)) {
    self->spinning = true;
    self->spin_mark = changes;
  }
  stop(self, true);
}

void Engine::glance(uintptr_t pc, uintptr_t object) {
  Thread* self = current_thread;
  if (self->pending_change) return;
  if (!self->spin.look(pc, object)) return;
  self->operation = {EventKind::Yield, 0, 0, object, pc};
  ++points;
  stop(self, true);
}

void Engine::publish() {
  auto& header = run_file.header();
  header.points = points;
  header.decisions = decisions_;
  header.switches = switches_;
  header.preemptions = preemptions_;
  header.virtual_ns = now();
  header.outside = outside_;
  if (strategy_ != nullptr && strategy_->flags() != 0) run_file.set_flag(strategy_->flags());
}

// `self` is the thread at the point, or null when it is no candidate (ended, outside).
Thread* Engine::pick(Thread* self, bool yields) {
  if (points >= max_points_) end_run(only_looking() ? RunState::Livelock : RunState::PointLimit);
  if (real_end_ != 0 && points >= next_real_look_) {
    next_real_look_ = points + kLookAround;
    if (real_now() > real_end_) end_run(RunState::TimeLimit);
  }
  if (points - last_switch_ >= kFairShare) {
    yields = true;
    last_switch_ = points;
  }
  uint32_t count = 0;
  for (;;) {
    admit();
    count = gather(self);
    if (count > 0) break;
    idle();
  }
  arriving_since_ = 0;
  Decision decision;
  decision.number = points;
  decision.candidates = candidates_;
  decision.count = count;
  decision.yields = yields;
  uint64_t enabled = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t thread = candidates_[i].thread;
    if (self != nullptr && thread == self->index) decision.running = i;
    if (thread < 64) {
      enabled |= uint64_t{1} << thread;
    } else if (events_.wanted()) {
      run_file.set_flag(format::kRunEnabledCut);
    }
  }
  if (count > 1) ++decisions_;
  const uint32_t chosen = choose(decision);
  Thread* next = all_[candidates_[chosen].thread];
  if (chosen != decision.by_default())
    schedule_.record(ChoiceKind::Run, points, next->index, candidates_[chosen].operation);
  if (next != self) {
    ++switches_;
    last_switch_ = points;
    if (decision.running != kNobody && !yields) ++preemptions_;
  }
  Operation happens = candidates_[chosen].operation;
  events_.write(*next, happens, enabled, true);
  next->spinning = false;
  plan_next_stop(count);
  return next;
}

uint32_t Engine::choose(const Decision& decision) {
  if (schedule_.following()) {
    const uint32_t followed = follow(decision);
    if (followed != kNobody) return followed;
  }
  if (schedule_.following() || strategy_ == nullptr) return decision.by_default();
  if (plan.header.bound != 0 && preemptions_ >= plan.header.bound && decision.running != kNobody &&
      !decision.yields) {
    return decision.running;
  }
  const uint32_t chosen = strategy_->choose(decision);
  if (const uint32_t other = strategy_->met_with(); other != kNobody) {
    write_witness(*all_[decision.candidates[chosen].thread], *all_[other]);
    if ((plan.header.flags & format::kPlanStopAtMeeting) != 0) end_run(RunState::Stopped);
  }
  if ((plan.header.flags & format::kPlanStopAtMeeting) != 0 && races_seen_ != finding_writer.witnessed())
    look_at_races();
  return chosen;
}

// Where one access comes about only behind the other, the two never stand side by side: that nothing ordered
// them is what the plan waits for.
void Engine::look_at_races() {
  const uint32_t seen = races_seen_;
  races_seen_ = finding_writer.witnessed();
  finding_writer.each_witnessed(seen, [this](uint64_t first, uint64_t second) {
    for (uint32_t i = 0; i < plan.settings.pair_count; ++i) {
      const SitePair& pair = plan.settings.pairs[i];
      if ((pair.first == first && pair.second == second) || (pair.first == second && pair.second == first))
        end_run(RunState::Stopped);
    }
  });
}

// The position that the schedule to follow asks for here; kNobody = nothing.
uint32_t Engine::follow(const Decision& decision) {
  if (schedule_.next_decision() < decision.number) {
    diverged();
    return kNobody;
  }
  const auto* item = schedule_.take(ChoiceKind::Run, decision.number);
  if (item == nullptr) return kNobody;
  for (uint32_t i = 0; i < decision.count; ++i) {
    if (decision.candidates[i].thread != item->thread) continue;
    if (!schedule_.fits(*item, decision.candidates[i].operation)) break;
    if (!schedule_.following() && (plan.header.flags & format::kPlanStopAtSchedule) != 0)
      end_run(RunState::Stopped);
    return i;
  }
  diverged();
  return kNobody;
}

void Engine::diverged() {
  schedule_.give_up();
  if (run_file.header().diverged_at == 0) run_file.header().diverged_at = points;
  if ((plan.header.flags & format::kPlanStrictSchedule) != 0) end_run(RunState::Diverged);
}

void Engine::plan_next_stop(uint32_t count) {
  uint64_t distance = kLookAround;
  if (events_.wanted() || (polling_ > 0 && looks_at_each_point_)) {
    distance = 1;
  } else if (schedule_.following()) {
    const uint64_t next = schedule_.next_decision();
    const uint64_t until = next > points ? next - points : 1;
    if (until < distance) distance = until;
  } else if (strategy_ != nullptr) {
    const uint64_t patience = strategy_->patience();
    if (patience < distance) distance = patience == 0 ? 1 : patience;
  }
  if (polling_ > 0 && distance > kLookAgain) distance = kLookAgain;
  if (count > 1 && points - last_switch_ + distance > kFairShare) {
    distance = points - last_switch_ < kFairShare ? kFairShare - (points - last_switch_) : 1;
  }
  if (first_deadline_ != Wait::kForever) {
    const uint64_t left = first_deadline_ > now() ? (first_deadline_ - now()) / kPointNanoseconds + 1 : 1;
    if (left < distance) distance = left;
  }
  next_stop = points + distance;
  publish();
}

void Engine::hand_over(Thread* self, Thread* next) {
  running = next;
  run_file.header().current_thread = next->index;
  run_file.header().current_tid = static_cast<uint32_t>(__atomic_load_n(&next->tid, __ATOMIC_RELAXED));
  __atomic_store_n(&next->go, 1, __ATOMIC_RELEASE);
  runtime::futex_wake(&next->go, 1);
  if (self != nullptr && self->standing == Standing::Alive) park(self);
}

void Engine::park(Thread* self) {
  while (__atomic_load_n(&self->go, __ATOMIC_ACQUIRE) == 0) runtime::futex_wait(&self->go, 0);
  self->go = 0;
  if (self->called_at_turn) [[unlikely]] {
    self->called_at_turn = false;
    turn_call_();
  }
  // The one before may still be on its way out of the process; what it gives back to libc (its stack, its
  // arena) must be there before anybody asks for it, or addresses would differ from run to run.
  if (ending_tid_ == 0) return;
  const int32_t tid = ending_tid_;
  ending_tid_ = 0;
  const long pid = runtime::raw_syscall(SYS_getpid);
  for (int tries = 0; tries < 20000 && runtime::raw_syscall(SYS_tgkill, pid, tid, 0) == 0; ++tries)
    runtime::raw_syscall(SYS_sched_yield);
}

void Engine::at_next_turn(void (*call)()) {
  turn_call_ = call;
  for (uint32_t i = 0; i < live_count_; ++i) live_[i]->called_at_turn = live_[i] != running;
}

void Engine::begin(Thread* self) {
  const Inside inside(self);
  current_thread = self;
  __atomic_store_n(&self->tid, static_cast<int32_t>(runtime::raw_syscall(SYS_gettid)), __ATOMIC_RELAXED);
  park(self);
  self->wait = Wait{};
  run_file.header().current_tid = static_cast<uint32_t>(self->tid);
}

void Engine::end(Thread* self) {
  const Inside inside(self);
  if (running != self) return;
  if (self->pending_change) ++changes;
  self->pending_change = false;
  self->operation = {EventKind::End, 0, 0, self->index, 0};
  ++points;
  stop(self, false);
  ++changes;
  self->standing = Standing::Ended;
  remove_live(self);
  if (live_count_ == 0) {  // the process ends on this thread: libc calls exit
    publish();
    return;
  }
  Thread* next = nullptr;
  ++points;
  next = pick(nullptr, false);
  if (self->index != 0) ending_tid_ = self->tid;
  hand_over(nullptr, next);
}

void Engine::never_began(Thread* thread) {
  thread->standing = Standing::Ended;
  remove_live(thread);
}

void Engine::note(const Operation& operation) {
  Operation happened = operation;
  happened.calls = current_thread->calls.hash();
  events_.write(*current_thread, happened, 0, false);
}

void Engine::note_unwatched(const Operation& operation) {
  if ((plan.header.flags & format::kPlanRecordUnwatched) != 0) note(operation);
}

uint32_t Engine::choose_waiter(const Object& object, const Operation& operation) {
  const auto count = static_cast<uint32_t>(object.waiters.size());
  if (count < 2) return 0;
  uint32_t chosen = 0;
  if (schedule_.following()) {
    if (const auto* item = schedule_.take(ChoiceKind::Wake, points); item != nullptr) {
      while (chosen < count && object.waiters[chosen]->index != item->thread) ++chosen;
      if (chosen == count) {
        diverged();
        chosen = 0;
      }
    }
  } else if (strategy_ != nullptr) {
    chosen = strategy_->choose_waiter(count);
  }
  if (chosen != 0) schedule_.record(ChoiceKind::Wake, points, object.waiters[chosen]->index, operation);
  return chosen;
}

bool Engine::spurious(const Operation& operation) {
  if ((plan.header.flags & format::kPlanSpuriousWakeups) == 0) return false;
  const bool wakes = schedule_.following() ? schedule_.take(ChoiceKind::Spurious, points) != nullptr
                                           : strategy_ != nullptr && noise_.below(4) == 0;
  if (wakes) schedule_.record(ChoiceKind::Spurious, points, current_thread->index, operation);
  return wakes;
}

}  // namespace simrt::rt::control
