#include "detect_sim.h"

#include <cstdio>
#include <cstdlib>

#include "control/point.h"
#include "detect/race.h"
#include "detect/thread.h"

namespace simrt::rt {

// The engine's side of the hooks, which these tests do without.
RunMode mode = RunMode::Off;
namespace control {
void point(EventKind, uintptr_t, uint64_t, uintptr_t, uint8_t) {}
void unchanged(bool) {}
void met(uint64_t, uint64_t) {}
void enter_function(uintptr_t, uintptr_t) {}
void leave_function() {}
}  // namespace control

namespace detect {

Findings findings;

namespace {

uint32_t threads = 1;

[[gnu::noinline]] uint64_t anchor() { return site(0); }
uintptr_t number(const void* p) { return reinterpret_cast<uintptr_t>(p); }

}  // namespace

uintptr_t site(unsigned n) { return reinterpret_cast<uintptr_t>(&anchor) + n; }

std::size_t Findings::count(Evidence least) const {
  std::size_t n = 0;
  for (const Race& race : races) n += race.evidence >= least;
  return n;
}

template <class Act>
void Actor::act(Act act) {
  self = watched = state_;
  act();
  self = watched = main().state_;
}

Actor& Actor::main() {
  static Actor actor;
  if (actor.state_ == nullptr) {
    Options options;
    options.sink = &findings;
    if (!start(options)) {
      std::fputs("the detector did not start\n", stderr);
      std::abort();
    }
    actor.state_ = self;
  }
  return actor;
}

void Actor::begin() {
  self = nullptr;
  thread_started(index_);
  state_ = self;
  self = main().state_;
}

void Actor::count_first_sites() { state_->first_site_counts = true; }

void Actor::watch_only(const Watch* watch) {
  options.watch = watch;
  state_->choosy = watch != nullptr;
}

Actor Actor::create() {
  Actor child;
  child.index_ = threads++;
  act([&] { thread_created(child.index_, site(1000)); });
  child.begin();
  return child;
}

Actor Actor::appear() {
  Actor foreign;
  foreign.index_ = threads++;
  foreign.begin();
  return foreign;
}

void Actor::end() {
  self = state_;
  thread_ended();
  self = main().state_;
}
void Actor::join(const Actor& other) {
  act([&] { thread_joined(other.index_, site(1001)); });
}
void Actor::read(const void* p, unsigned n, uint32_t size) {
  act([&] { access(number(p), size, false, site(n)); });
}
void Actor::write(const void* p, unsigned n, uint32_t size) {
  act([&] { access(number(p), size, true, site(n)); });
}
void Actor::lock(const void* p, unsigned n) {
  act([&] {
    lock_requested(number(p), LockMode::Exclusive, site(n));
    lock_acquired(number(p), LockMode::Exclusive, false, site(n));
  });
}
void Actor::unlock(const void* p) {
  act([&] { lock_released(number(p), LockMode::Exclusive, site(903)); });
}
void Actor::lock_shared(const void* p, unsigned n) {
  act([&] {
    lock_requested(number(p), LockMode::Shared, site(n));
    lock_acquired(number(p), LockMode::Shared, false, site(n));
  });
}
void Actor::unlock_shared(const void* p) {
  act([&] { lock_released(number(p), LockMode::Shared, site(904)); });
}
void Actor::try_lock(const void* p, unsigned n) {
  act([&] { lock_acquired(number(p), LockMode::Exclusive, true, site(n)); });
}
void Actor::notify(const void* p) {
  act([&] { released(number(p)); });
}
void Actor::wake(const void* p) {
  act([&] { acquired(number(p)); });
}
void Actor::load(const void* p, Order order, unsigned n) {
  act([&] { AtomicOperation(self, number(p), order, false).finish({4, AtomicKind::Load, order}, site(n)); });
}
void Actor::store(const void* p, Order order, unsigned n) {
  act([&] { AtomicOperation(self, number(p), order, true).finish({4, AtomicKind::Store, order}, site(n)); });
}
void Actor::update(const void* p, Order order, unsigned n) {
  act([&] { AtomicOperation(self, number(p), order, true).finish({4, AtomicKind::Update, order}, site(n)); });
}
void Actor::fence(Order order) {
  act([&] { detect::fence(order); });
}
void Actor::allocate(const void* p, uint64_t size, unsigned n) {
  act([&] { allocated(number(p), size, site(n)); });
}
void Actor::free(const void* p, uint64_t size, unsigned n) {
  act([&] { freed(number(p), size, site(n)); });
}
void Actor::enter(unsigned n) {
  act([&] { push_frame(*self, site(n), stack_ -= 64); });
}
void Actor::leave() {
  act([&] {
    pop_frame(*self);
    stack_ += 64;
  });
}

Play::Play() {
  Actor::main().allocate(this, sizeof *this);
  findings.races.clear();
  findings.sites.clear();
  findings.cycles.clear();
  findings.triples.clear();
  findings.doubts.clear();
}

}  // namespace detect
}  // namespace simrt::rt
