// Who can go on, and what happens when nobody can.
#include <poll.h>
#include <time.h>

#include "control/engine.h"
#include "emit/run_file.h"
#include "sys/futex.h"

namespace simrt::rt::control {

using format::ChoiceKind;
using format::RunState;

namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kForeignPatience = 2000 * kMillisecond;  // real time, behind the last sign of a timer
constexpr uint64_t kUnderWayPatience = 500 * kMillisecond;  // beyond any delayed acknowledgement of TCP
constexpr uint64_t kArrivalPatience =
    5000 * kMillisecond;  // for a call outside that a schedule expects to return

// The descriptors that threads wait for.
constexpr uint32_t kMaxPolls = 1024;
struct pollfd polls[kMaxPolls];
uint32_t polls_count = 0;

bool is_ready(const Wait& wait) {
  struct timespec none = {};
  const long ready = runtime::raw_syscall(SYS_ppoll, reinterpret_cast<long>(wait.polls), wait.poll_count,
                                          reinterpret_cast<long>(&none), 0, 8);
  return ready != 0;  // errors too: let the real call tell
}

}  // namespace

uint64_t real_now() {
  struct timespec now = {};
  runtime::raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&now));
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

bool Engine::holds(const Thread& thread) const {
  const Wait& wait = thread.wait;
  switch (wait.until) {
    case Until::Now:
      return true;
    case Until::Never:
      return false;
    case Until::LockFree:
      return wait.object->owner == nullptr && wait.object->readers == 0;
    case Until::NoWriter:
      return wait.object->owner == nullptr && (wait.object->queued == 0 || wait.object->readers == 0);
    case Until::Notified:
      return thread.notified;
    case Until::CountPositive:
      return wait.object->count > 0;
    case Until::RoundOver:
      return wait.object->round != wait.ticket;
    case Until::OnceSettled:
      return (*wait.word & 3) != 1;  // glibc: 1 = in progress, 2 = done
    case Until::ThreadEnded:
      return wait.target->standing == Standing::Ended;
    case Until::Descriptors:
      return has_ready(thread);
    case Until::OutsideReturned:
      return true;  // admitted
  }
  return true;
}

// Where only threads of the program can make them ready, it takes a call that the engine sees, or hardly ever
// one that it does not see.
bool Engine::has_ready(const Thread& thread) const {
  constexpr uint32_t kLooksBeforeAsking = 8;  // to ask who can costs more than a few looks
  Looks& looks = thread.looks;
  if (looks.shape != descriptor_changes_) looks = Looks{.shape = descriptor_changes_};
  if (looks.within && looks.change == io_changes_ && points - looks.point < kLookAgain) return false;
  if (is_ready(thread.wait)) {
    looks.change = 0;
    return true;
  }
  looks.change = io_changes_;
  looks.point = points;
  if (!looks.within && ++looks.count % kLooksBeforeAsking == 0 && looks.count <= 4 * kLooksBeforeAsking)
    looks.within =
        reach_of != nullptr && reach_of(thread.wait.polls, thread.wait.poll_count) == Reach::Within;
  looks_at_each_point_ |= !looks.within;
  return false;
}

bool Engine::can_go_on(Thread& thread) {
  if (thread.standing != Standing::Alive) return false;
  if (thread.spinning && thread.spin_mark == changes) return false;
  const Wait& wait = thread.wait;
  if (wait.deadline < first_deadline_) first_deadline_ = wait.deadline;
  const bool over = wait.deadline <= now() || (wait.cancellable && thread.cancelled);
  if (!over && !holds(thread)) return false;
  return wait.second == nullptr || wait.second->owner == nullptr;
}

Outcome Engine::outcome_of(const Thread& thread) const {
  if (holds(thread)) return Outcome::Done;
  return thread.wait.cancellable && thread.cancelled ? Outcome::Cancelled : Outcome::TimedOut;
}

// What its pending operation turns into if it goes on now.
EventKind Engine::kind_at_wake(const Thread& thread) const {
  const EventKind kind = thread.operation.kind;
  if (thread.wait.until == Until::Now || thread.wait.until == Until::Never ||
      outcome_of(thread) == Outcome::Done)
    return kind;
  return kind == EventKind::Woken ? EventKind::TimedOut : EventKind::TryFailed;
}

uint32_t Engine::gather(Thread* self) {
  uint32_t count = 0;
  first_deadline_ = Wait::kForever;
  looks_at_each_point_ = false;
  for (uint32_t i = 0; i < live_count_; ++i) {
    Thread& thread = *live_[i];
    if (!can_go_on(thread)) continue;
    candidates_[count].thread = thread.index;
    candidates_[count].operation = thread.operation;
    if (thread.wait.until != Until::Now) candidates_[count].operation.kind = kind_at_wake(thread);
    ++count;
  }
  (void)self;
  return count;
}

// A circle of threads each of which waits without limit for a lock that the next one owns.
bool Engine::is_cycle(const Thread* self) const {
  const Thread* at = self;
  for (uint32_t steps = 0; steps <= live_count_; ++steps) {
    if (at->wait.until != Until::LockFree || at->wait.deadline != Wait::kForever) return false;
    at = at->wait.object->owner;
    if (at == nullptr) return false;
    if (at == self) return true;
  }
  return false;
}

void Engine::expect_foreign() { foreign_until_ = real_now() + kForeignPatience; }

bool Engine::let_spinners_go() {
  bool any = false;
  for (uint32_t i = 0; i < live_count_; ++i) {
    any |= live_[i]->spinning;
    live_[i]->spinning = false;
  }
  return any;
}

// One more round in which nobody waits for anything else.
void Engine::count_spin_round() {
  if (spin_changes_ != changes) spin_rounds_ = 0;
  spin_changes_ = changes;
  ++spin_rounds_;
}

// Nobody can go on as things stand.
void Engine::idle() {
  if (outside_ > 0 && schedule_.following() && first_deadline_ == Wait::kForever) {
    for (uint32_t i = 0; i < live_count_; ++i) {
      if (live_[i]->returned) return diverged();  // the schedule does not know that it comes back here
    }
  }
  ++io_changes_;  // whatever comes of it is looked at
  const Reach reach = this->reach();
  if (reach == Reach::Arriving) return let_arrive();
  if (reach == Reach::Outside) {
    if (let_spinners_go()) {
      idle_outside(now() + kMillisecond);
    } else {
      idle_outside(first_deadline_);
    }
    return;
  }
  if (any_ready()) return;  // arrived since it was looked at
  if (first_deadline_ != Wait::kForever) {
    uint64_t left = first_deadline_ > now() ? first_deadline_ - now() : 0;
    // Loops that only look may end by themselves, and be what somebody waits for: they get a few rounds
    // first.
    if (polling_ > 0 && let_spinners_go()) {
      const uint64_t part = left / 64 > kMillisecond ? left / 64 : kMillisecond;
      if (part < left) left = part;
    }
    if ((plan.header.flags & format::kPlanRealTime) != 0) {
      runtime::futex_wait(&arrivals_, arrivals_, left == 0 ? 1 : left);
    }
    clock_ += left;
    let_spinners_go();
    return;
  }
  if (let_spinners_go()) {
    count_spin_round();
    if (spin_rounds_ > most_spin_rounds_ && waits_for_others()) end_run(RunState::Livelock);
    clock_ += kMillisecond / 10;
    return;
  }
  end_run(RunState::Deadlock);
}

// False when there are more than there is room for.
bool Engine::collect_polls() {
  polls_count = 0;
  for (uint32_t i = 0; i < live_count_; ++i) {
    const Wait& wait = live_[i]->wait;
    for (uint32_t p = 0; p < wait.poll_count; ++p) {
      if (polls_count == kMaxPolls) return false;
      polls[polls_count++] = wait.polls[p];
    }
  }
  return true;
}

// Who could let a thread go on, now that nobody can.
Reach Engine::reach() {
  if (outside_ > 0 || (foreign_until_ != 0 && real_now() < foreign_until_)) return Reach::Outside;
  if (polling_ == 0) return Reach::Within;
  if (reach_of == nullptr || !collect_polls()) return Reach::Outside;
  uint32_t threads = live_count_;
  if (all_[0]->standing == Standing::Ended) ++threads;  // the process keeps it to its end
  if (current_thread->standing == Standing::Ended && current_thread != all_[0])
    ++threads;  // looks for whom to hand over to
  if (has_visitors == nullptr || has_visitors(threads)) return Reach::Outside;
  const Reach reach = reach_of(polls, polls_count);
  if (reach != Reach::Arriving) return reach;
  if (arriving_since_ == 0) arriving_since_ = real_now();
  return real_now() - arriving_since_ < kUnderWayPatience ? reach : Reach::Outside;
}

// What is on its way takes no virtual time.
void Engine::let_arrive() {
  const struct timespec limit = {0, static_cast<long>(kMillisecond / 5)};
  runtime::raw_syscall(SYS_ppoll, reinterpret_cast<long>(polls), polls_count, reinterpret_cast<long>(&limit),
                       0, 8);
}

bool Engine::any_ready() const {
  for (uint32_t i = 0; i < live_count_; ++i)
    if (live_[i]->wait.poll_count > 0 && is_ready(live_[i]->wait)) return true;
  return false;
}

// Waits in the kernel until a call outside returns, a descriptor is ready or the deadline has come; virtual
// time goes on as real time does, so that no time limit is over before its cause had its chance.
void Engine::idle_outside(uint64_t deadline) {
  constexpr uint64_t kSlice = 10 * kMillisecond;
  publish();
  if (real_end_ != 0 && real_now() > real_end_) end_run(RunState::TimeLimit);
  run_file.header().current_thread = format::kRunNone;
  const int32_t seen = __atomic_load_n(&arrivals_, __ATOMIC_ACQUIRE);
  if (__atomic_load_n(&arrived_, __ATOMIC_ACQUIRE) == nullptr) {
    const uint64_t left = deadline > now() ? deadline - now() : 0;
    uint64_t slice = left < kSlice ? left : kSlice;
    if (polling_ > 0 && outside_ > 0 && slice > kMillisecond) slice = kMillisecond;
    const uint64_t started = real_now();
    if (polling_ == 0) {
      runtime::futex_wait(&arrivals_, seen, slice == 0 ? 1 : slice);
    } else {
      collect_polls();
      const struct timespec limit = {0, static_cast<long>(slice)};
      runtime::raw_syscall(SYS_ppoll, reinterpret_cast<long>(polls), polls_count,
                           reinterpret_cast<long>(&limit), 0, 8);
    }
    const uint64_t passed = real_now() - started;
    clock_ += passed < left ? passed : left;
  }
  if (running != nullptr) run_file.header().current_thread = running->index;
}

// Takes up threads whose calls outside have returned, and foreign ones. With a schedule to follow at the
// decision it names, and not before.
void Engine::admit() {
  const auto* item = schedule_.peek(ChoiceKind::Arrive, points);
  if (item != nullptr) {
    const uint64_t started = real_now();
    for (;;) {
      admit_in_order(__atomic_exchange_n(&arrived_, nullptr, __ATOMIC_ACQ_REL));
      item = schedule_.peek(ChoiceKind::Arrive, points);
      if (item == nullptr) break;
      const int32_t seen = __atomic_load_n(&arrivals_, __ATOMIC_ACQUIRE);
      if (__atomic_load_n(&arrived_, __ATOMIC_ACQUIRE) != nullptr) continue;
      if (real_now() - started > kArrivalPatience) return diverged();
      runtime::futex_wait(&arrivals_, seen, 10 * kMillisecond);
    }
    return;
  }
  if (__atomic_load_n(&arrived_, __ATOMIC_RELAXED) != nullptr || outside_ > 0)
    admit_in_order(__atomic_exchange_n(&arrived_, nullptr, __ATOMIC_ACQ_REL));
}

void Engine::admit_in_order(Thread* list) {
  while (list != nullptr) {
    Thread* thread = list;
    list = thread->next_arrived;
    thread->returned = true;
    if (thread->index == format::kRunNone) {  // foreign
      if (foreign_until_ != 0) expect_foreign();
      thread->index = static_cast<uint32_t>(all_.size());
      run_file.header().threads = thread->index + 1;
      add_live(thread);
      ++outside_;
    }
  }
  for (uint32_t i = 0; i < live_count_; ++i) {
    Thread* thread = live_[i];
    if (thread->standing != Standing::Outside || !thread->returned) continue;
    if (schedule_.following()) {
      const auto* item = schedule_.peek(ChoiceKind::Arrive, points);
      if (item == nullptr || item->thread != thread->index) continue;
      schedule_.take(ChoiceKind::Arrive, points);
    }
    thread->returned = false;
    thread->standing = Standing::Alive;
    thread->wait = Wait{};
    thread->wait.until = Until::OutsideReturned;
    --outside_;
    run_file.set_uncontrolled(format::kUncontrolledOutsideOrder);
    schedule_.record(ChoiceKind::Arrive, points, thread->index, thread->operation);
    if (schedule_.following()) i = UINT32_MAX;  // the next item may name one before
  }
}

}  // namespace simrt::rt::control
