#include "impact/locksets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program_text.h"

namespace simrt::impact {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Locks {
 public:
  explicit Locks(const std::string& text)
      : program_(parse_program(kVariables + text)),
        index_(program_),
        calls_(index_),
        locksets_(index_, calls_, names_) {}

  /// Locks at the n-th access of the function.
  std::vector<std::string> at(const std::string& function, std::size_t number = 0) const {
    const Range events = index_.events_of(number_of(program_, function));
    // Blocks are numbered from the exit up; count in source order.
    std::vector<std::pair<SourcePoint, std::uint32_t>> accesses;
    for (std::uint32_t event = events.begin; event < events.end; ++event)
      if (std::holds_alternative<Access>(index_.event(event).what))
        accesses.emplace_back(index_.event(event).at, event);
    std::sort(accesses.begin(), accesses.end());
    std::vector<std::string> result;
    for (const Held& held : names_.set(locksets_.at(accesses.at(number).second)))
      result.push_back(names_.display(held.lock) + (held.mode == LockMode::Shared ? " shared" : "") +
                       (held.assumed ? " assumed" : ""));
    std::sort(result.begin(), result.end());
    return result;
  }

 private:
  static inline const std::string kVariables =
      "var S::mu std::mutex mutex\nvar S::mu2 std::mutex mutex\nvar S::x int\nvar g std::mutex mutex\nvar x "
      "int\n";
  Program program_;
  ProgramIndex index_;
  CallGraph calls_;
  LockNames names_;
  Locksets locksets_;
};

TEST(Locksets, GuardForItsScope) {
  const Locks locks("fn f() l\nB1 -> B0\n  W x\n  guard l this.S::mu g\n  W x\n  grel l\n  W x\n");
  EXPECT_THAT(locks.at("f", 0), IsEmpty());
  EXPECT_THAT(locks.at("f", 1), ElementsAre("S::mu", "g"));
  EXPECT_THAT(locks.at("f", 2), IsEmpty());
}

TEST(Locksets, UniqueLockUnlockedAndLockedAgain) {
  const Locks locks("fn f() l\nB1 -> B0\n  guard l g\n  grel l\n  W x\n  gacq l\n  W x\n  grel l\n  W x\n");
  EXPECT_THAT(locks.at("f", 0), IsEmpty());
  EXPECT_THAT(locks.at("f", 1), ElementsAre("g"));
  EXPECT_THAT(locks.at("f", 2), IsEmpty());
}

TEST(Locksets, DeferredGuard) {
  const Locks locks("fn f() l\nB1 -> B0\n  defer l g\n  W x\n  gacq l\n  W x\n  grel l\n");
  EXPECT_THAT(locks.at("f", 0), IsEmpty());
  EXPECT_THAT(locks.at("f", 1), ElementsAre("g"));
}

TEST(Locksets, MovedGuardReleasesAtItsNewOwner) {
  const Locks locks("fn f() l m\nB1 -> B0\n  guard l g\n  gmove m l\n  grel l\n  W x\n  grel m\n  W x\n");
  EXPECT_THAT(locks.at("f", 0), ElementsAre("g"));
  EXPECT_THAT(locks.at("f", 1), IsEmpty());
}

TEST(Locksets, OnlyWhatAllPathsHold) {
  const Locks locks(
      "fn f()\nB4 -> B3 T, B2 F\n  lock g\nB3 -> B1\n  lock this.S::mu\nB2 -> B1\n  slock this.S::mu\nB1 -> "
      "B0\n  W x\n"
      "fn h()\nB3 -> B2 T, B1 F\n  text c\nB2 -> B1\n  lock g\nB1 -> B0\n  W x\n");
  EXPECT_THAT(locks.at("f"), ElementsAre("S::mu shared", "g"));
  EXPECT_THAT(locks.at("h"), IsEmpty());
}

TEST(Locksets, EarlyReturnWithUnlock) {
  const Locks locks(
      "fn f()\nB3 -> B2 T, B1 F\n  lock g\nB2 -> B0\n  unlock g\n  W x\nB1 -> B0\n  W x\n  unlock g\n");
  EXPECT_THAT(locks.at("f", 0), IsEmpty());
  EXPECT_THAT(locks.at("f", 1), ElementsAre("g"));
}

TEST(Locksets, LoopThatUnlocksAndLocks) {
  const Locks locks(
      "fn f()\nB4 -> B3\n  lock g\nB3 -> B2 T, B1 F\n  W x\nB2 -> B3\n  unlock g\n  W x\n  lock g\nB1 -> "
      "B0\n  unlock g\n");
  EXPECT_THAT(locks.at("f", 0), ElementsAre("g"));
  EXPECT_THAT(locks.at("f", 1), IsEmpty());
}

TEST(Locksets, TryLockIsNotCertain) {
  const Locks locks("fn f()\nB2 -> B1 T, B0 F\n  trylock g\nB1 -> B0\n  W x\n");
  EXPECT_THAT(locks.at("f"), IsEmpty());
}

TEST(Locksets, ObjectsStayApart) {
  const Locks locks("fn f(a, b)\nB1 -> B0\n  lock a.S::mu\n  lock b.S::mu\n  unlock a.S::mu\n  W x\n");
  EXPECT_THAT(locks.at("f"), ElementsAre("p1.mu"));
}

TEST(Locksets, UnlockByAnotherNameGivesUpEveryLockItMayBe) {
  const Locks locks("fn f() a b\nB1 -> B0\n  lock a.S::mu\n  unlock b.S::mu\n  W x\n");
  EXPECT_THAT(locks.at("f"), IsEmpty());
}

TEST(Locksets, PointerAndReferenceLocalsAreFollowed) {
  const Locks locks(
      "fn f() m\nB1 -> B0\n  bind m := &this.S::mu; def m\n  lock m*\n  W x\n  unlock this.S::mu\n  W x\n");
  EXPECT_THAT(locks.at("f", 0), ElementsAre("S::mu"));
  EXPECT_THAT(locks.at("f", 1), IsEmpty());
}

TEST(Locksets, ReassignedPointerIsNotFollowed) {
  const Locks locks(
      "fn f(a) m\nB1 -> B0\n  bind m := &this.S::mu; def m\n  bind m := &a.S::mu; def m\n  lock m*\n  W x\n");
  EXPECT_THAT(locks.at("f"), ElementsAre("l1"));
}

TEST(Locksets, LockPassedByReference) {
  const Locks locks(
      "fn with(m)\nB1 -> B0\n  lock m*\nfn f()\nB1 -> B0\n  call with(&this.S::mu)\n  W x\n  unlock "
      "this.S::mu\n  W x\n");
  EXPECT_THAT(locks.at("f", 0), ElementsAre("S::mu"));
  EXPECT_THAT(locks.at("f", 1), IsEmpty());
}

TEST(Locksets, GuardPassedByReferenceIsUnlockedInTheCallee) {
  const Locks locks(
      "fn pause(l)\nB1 -> B0\n  grel l*\n  W x\nfn f() l\nB1 -> B0\n  guard l g\n  call pause(&l)\n  W x\n");
  EXPECT_THAT(locks.at("pause"), IsEmpty());
  EXPECT_THAT(locks.at("f"), IsEmpty());
}

TEST(Locksets, GuardReturnedByAFunction) {
  const Locks locks(
      "fn take() l\nB1 -> B0\n  guard l g; gmove return l\nfn f() m\nB1 -> B0\n  call take(); gmove m "
      "return:take\n  W x\n  grel m\n  W x\n");
  EXPECT_THAT(locks.at("f", 0), ElementsAre("g"));
  EXPECT_THAT(locks.at("f", 1), IsEmpty());
}

TEST(Locksets, WrapperOfAWrapperAndRecursion) {
  const Locks locks(
      "fn in()\nB1 -> B0\n  lock g\nfn outer()\nB1 -> B0\n  call in()\nfn f()\nB1 -> B0\n  call outer()\n  W "
      "x\n"
      "fn loop(n)\nB3 -> B2 T, B1 F\n  text n\nB2 -> B0\n  call loop(0)\nB1 -> B0\n  lock g\nfn h()\nB1 -> "
      "B0\n  call loop(0)\n  W x\n");
  EXPECT_THAT(locks.at("f"), ElementsAre("g"));
  EXPECT_THAT(locks.at("h"), IsEmpty());  // nothing is claimed of a recursion before it is known
}

TEST(Locksets, RecursionOverLinkedObjectsSettles) {
  // Each level releases the lock of the next object: the paths would grow for ever.
  const Locks locks(
      "var N::mu std::mutex mutex\nvar N::next N*\nvar N::prev N*\n"
      "fn N::drop()\nB2 -> B1 T, B0 F\n  W x\n  unlock this.N::mu\nB1 -> B0\n  call N::drop() on "
      "this.N::next\n"
      "  call N::drop() on this.N::prev\nfn f(n)\nB1 -> B0\n  lock n.N::mu\n  W x\n  call N::drop() on n\n  "
      "W x\n");
  EXPECT_THAT(locks.at("f", 0), ElementsAre("p0.mu"));
  EXPECT_THAT(locks.at("f", 1), IsEmpty());
}

TEST(Locksets, VirtualCallHoldsOnlyWhatEveryOverriderAcquires) {
  const Locks locks(
      "fn A::f()\nB1 -> B0\n  lock g\nfn B::f() overrides=A::f\nB1 -> B0\n  text none\nfn use()\nB1 -> B0\n  "
      "vcall A::f()\n  W x\n");
  EXPECT_THAT(locks.at("use"), IsEmpty());
}

TEST(Locksets, WhatACalleeGivesUpAndTakesAgainIsStillHeld) {
  const std::string lender = "fn A::f()\nB1 -> B0\n  unlock g\n  W y\n  lock g\n";
  const Locks one(lender + "fn use()\nB1 -> B0\n  lock g\n  call A::f()\n  W x\n");
  EXPECT_THAT(one.at("use"), ElementsAre("g"));
  EXPECT_THAT(one.at("A::f"), IsEmpty());
  // Nor does it matter that another overrider leaves the lock alone.
  const Locks two(lender +
                  "fn B::f() overrides=A::f\nB1 -> B0\n  text none\nfn use()\nB1 -> B0\n  lock g\n  "
                  "vcall A::f()\n  W x\n");
  EXPECT_THAT(two.at("use"), ElementsAre("g"));
  // Or under which name the caller holds it.
  const Locks three(
      "var N::mu std::mutex mutex\nfn N::f()\nB1 -> B0\n  unlock this.N::mu\n  lock this.N::mu\nfn use(a, "
      "b)\nB1 -> B0\n  "
      "lock a.N::mu\n  call N::f() on b\n  W x\n");
  EXPECT_THAT(three.at("use"), ElementsAre("p0.mu"));
}

TEST(Locksets, StdGuardOverALockableClassHoldsItsMember) {
  const Locks locks(
      "var M::raw pthread_mutex_t mutex\nvar C::m M\nfn M::lock()\nB1 -> B0\n  lock this.M::raw\nfn "
      "M::unlock()\nB1 -> B0\n  unlock this.M::raw\n"
      "fn C::f() l\nB1 -> B0\n  guard l this.C::m\n  W x\n  call M::unlock() on &this.C::m\n  W x\n");
  EXPECT_THAT(locks.at("C::f", 0), ElementsAre("m"));
  EXPECT_THAT(locks.at("C::f", 1), IsEmpty());
}

TEST(Locksets, CalleeThatReleasesItsCallersLock) {
  const Locks locks(
      "fn wait()\nB1 -> B0\n  W x\n  unlock g\n  W x\n  lock g\n  W x\nfn f()\nB1 -> B0\n  lock g\n  call "
      "wait()\n  W x\n");
  EXPECT_THAT(locks.at("wait", 0), ElementsAre("g assumed"));
  EXPECT_THAT(locks.at("wait", 1), IsEmpty());
  EXPECT_THAT(locks.at("wait", 2), ElementsAre("g"));
  EXPECT_THAT(locks.at("f"), ElementsAre("g"));
}

TEST(Locksets, LambdaUsesItsParentsThis) {
  const Locks locks(
      "fn f()\nB1 -> B0\n  call f::lambda()\n  W x\nfn f::lambda() !lambda in=f\nB1 -> B0\n  lock "
      "this.S::mu\n");
  EXPECT_THAT(locks.at("f"), ElementsAre("S::mu"));
}

TEST(Locksets, CatchBlockStartsWithNothing) {
  const Locks locks("fn f()\nB3 -> B0\n  lock g\nB2 -> B0\n  W x\n");
  EXPECT_THAT(locks.at("f"), IsEmpty());
}

}  // namespace
}  // namespace simrt::impact
