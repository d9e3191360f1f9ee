// Rule 3, locks: one change per C++ reading; what must be impacted, why, and what must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"
#include "rule_programs.h"

namespace simrt::impact {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(LockRule, NothingChangedNothingImpacted) {
  const ImpactCase same(kCounter, kCounter);
  EXPECT_THAT(same.impact.accesses, IsEmpty());
  EXPECT_THAT(same.impact.pairs, IsEmpty());
  EXPECT_THAT(same.impact.unknowns, IsEmpty());
}

TEST(LockRule, Removed) {
  const ImpactCase change(kCounter,
                          edit(kCounter, {{"  guard g this.Counter::mu_\n", ""}, {"  grel g\n", ""}}));
  EXPECT_THAT(change.impacted(),
              ElementsAre("Counter::Add R Counter::value_", "Counter::Add W Counter::last_",
                          "Counter::Add W Counter::value_"));
  EXPECT_EQ(change.rule("Counter::Add W Counter::value_"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.cause("Counter::Add W Counter::value_"),
            "lock Counter::mu_ no longer held (was exclusive)");
  EXPECT_THAT(change.pairs(), Contains("Counter::Add W Counter::value_ ~ Counter::Get R Counter::value_"));
  EXPECT_THAT(change.pairs(), Contains("Counter::Add W Counter::value_ ~ Counter::Add W Counter::value_"));
  const SharedAccess* partner = change.find("Counter::Get R Counter::value_");
  ASSERT_NE(partner, nullptr);
  EXPECT_FALSE(partner->impacted);
  EXPECT_EQ(partner->locks, std::vector<std::string>{"Counter::mu_"});
}

TEST(LockRule, RemovedPointsAtTheNearestPlaceInTheNewVersion) {
  const ImpactCase change(kCounter,
                          edit(kCounter, {{"  guard g this.Counter::mu_\n", ""}, {"  grel g\n", ""}}));
  const SharedAccess* write = change.find("Counter::Add W Counter::value_");
  ASSERT_NE(write, nullptr);
  EXPECT_EQ(write->cause_file, "a.cc");
  EXPECT_EQ(write->cause_at.line, write->at.line);  // the guard stood right before it
}

TEST(LockRule, Added) {
  const ImpactCase change(edit(kCounter, {{"  guard g this.Counter::mu_\n", ""}, {"  grel g\n", ""}}),
                          kCounter);
  EXPECT_EQ(change.rule("Counter::Add W Counter::last_"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.cause("Counter::Add W Counter::last_"), "lock Counter::mu_ now held");
}

TEST(LockRule, Shrunk) {
  const ImpactCase change(
      kCounter,
      edit(kCounter, {{"  W this.Counter::last_\n  grel g\n", "  grel g\n  W this.Counter::last_\n"}}));
  EXPECT_EQ(change.rule("Counter::Add W Counter::last_"), ImpactRule::SyncChanged);
  // The whole region that the moved release ended is impacted: atomicity with the rest is gone.
  EXPECT_EQ(change.rule("Counter::Add W Counter::value_"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.rule("Counter::Get R Counter::value_"), ImpactRule::NotImpacted);
}

TEST(LockRule, AccessMovedOutOfTheRegion) {
  // The walk keeps the guard and takes the access for moved; it has lost its lock all the same.
  const std::string text = edit(kCounter, {{"  W this.Counter::last_\n", ""}});
  const ImpactCase change(
      text,
      edit(text, {{"  guard g this.Counter::mu_\n  R this.Counter::value_; W this.Counter::value_\n",
                   "  R this.Counter::value_; W this.Counter::value_\n  guard g this.Counter::mu_\n"}}));
  EXPECT_EQ(change.rule("Counter::Add W Counter::value_"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.cause("Counter::Add W Counter::value_"),
            "lock Counter::mu_ no longer held (was exclusive)");
}

TEST(LockRule, MovedBehindAnAccess) {
  const ImpactCase change(kCounter, edit(kCounter, {{"  guard g this.Counter::mu_\n  R this.Counter::value_; "
                                                     "W this.Counter::value_\n  W this.Counter::last_\n",
                                                     "  R this.Counter::value_; W this.Counter::value_\n  W "
                                                     "this.Counter::last_\n  guard g this.Counter::mu_\n"}}));
  EXPECT_EQ(change.rule("Counter::Add W Counter::value_"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.rule("Counter::Add W Counter::last_"), ImpactRule::SyncChanged);
}

TEST(LockRule, OtherMutex) {
  const ImpactCase change(kCounter,
                          edit(kCounter, {{"guard g this.Counter::mu_", "guard g this.Counter::log_mu_"}}));
  EXPECT_EQ(change.cause("Counter::Add W Counter::last_"),
            "lock Counter::mu_ no longer held (was exclusive), Counter::log_mu_ now held");
}

/// std::lock, and guards that adopt what it took.
const std::string kAdopting = R"(
var Pair::a std::mutex mutex
var Pair::b std::mutex mutex
var Pair::value int
fn Pair::Set() g h
B1 -> B0
  lock this.Pair::a
  lock this.Pair::b
  gadopt g this.Pair::a
  gadopt h this.Pair::b
  W this.Pair::value
  grel h
  grel g
)";

TEST(LockRule, AGuardThatAdoptsHoldsOnlyWhatWasLocked) {
  const ImpactCase one(kAdopting, edit(kAdopting, {{"  lock this.Pair::b\n", ""}}));
  EXPECT_EQ(one.rule("Pair::Set W Pair::value"), ImpactRule::SyncChanged);
  const ImpactCase both(kAdopting, edit(kAdopting, {{"  lock this.Pair::a\n  lock this.Pair::b\n", ""}}));
  EXPECT_EQ(both.rule("Pair::Set W Pair::value"), ImpactRule::SyncChanged);
  // Taken too late.
  const ImpactCase late(
      kAdopting,
      edit(kAdopting, {{"  lock this.Pair::b\n", ""},
                       {"  W this.Pair::value\n", "  W this.Pair::value\n  lock this.Pair::b\n"}}));
  EXPECT_EQ(late.rule("Pair::Set W Pair::value"), ImpactRule::SyncChanged);
}

TEST(LockRule, AGuardThatAdoptsReleases) {
  const ImpactCase change(
      kAdopting, edit(kAdopting, {{"  W this.Pair::value\n  grel h\n", "  grel h\n  W this.Pair::value\n"}}));
  EXPECT_EQ(change.rule("Pair::Set W Pair::value"), ImpactRule::SyncChanged);
}

TEST(LockRule, TheCallersLockIsAdopted) {
  const std::string text = R"(
var Pair::a std::mutex mutex
var Pair::value int
fn Pair::Finish() g
B1 -> B0
  gadopt g this.Pair::a
  W this.Pair::value
  grel g
fn Pair::Run()
B1 -> B0
  lock this.Pair::a
  call Pair::Finish() on this
)";
  EXPECT_THAT(
      ImpactCase(text, edit(text, {{"fn Pair::Finish() g\n", "fn Pair::Finish() extra g\n"}})).impacted(),
      IsEmpty());
  const ImpactCase change(text, edit(text, {{"  lock this.Pair::a\n", ""}}));
  EXPECT_NE(change.rule("Pair::Finish W Pair::value"), ImpactRule::NotImpacted);
}

TEST(LockRule, AnotherObjectsMutexIsAnotherMutex) {
  const std::string text = R"(
var Node::mu std::mutex mutex
var Node::value int
fn swap(a, b) g
B1 -> B0
  guard g a.Node::mu
  W a.Node::value
  grel g
)";
  const ImpactCase change(text, edit(text, {{"guard g a.Node::mu", "guard g b.Node::mu"}}));
  EXPECT_EQ(change.cause("swap W Node::value"), "lock p0.mu no longer held (was exclusive), p1.mu now held");
}

TEST(LockRule, SharedForExclusive) {
  const ImpactCase change(kCounter,
                          edit(kCounter, {{"guard g this.Counter::mu_", "sguard g this.Counter::mu_"}}));
  EXPECT_EQ(change.cause("Counter::Add W Counter::last_"), "lock Counter::mu_ now shared (was exclusive)");
}

TEST(LockRule, RenamedGuardAndInsertedLocalAreNoChange) {
  const ImpactCase change(
      kCounter,
      edit(kCounter, {{"fn Counter::Add(n) g\n", "fn Counter::Add(n) extra g\n"},
                      {"B1 -> B0\n  guard g", "B1 -> B0\n  text int extra = 1; def extra\n  guard g"}}));
  EXPECT_THAT(change.impacted(), IsEmpty());
}

TEST(LockRule, LockOfALocalObjectIsFollowedThroughRenumbering) {
  const std::string text = R"(
var Node::mu std::mutex mutex
var Node::value int
fn touch() n
B1 -> B0
  text Node* n = Pick(); def n
  lock n.Node::mu
  W n.Node::value
  unlock n.Node::mu
)";
  const ImpactCase change(text, edit(text, {{"fn touch() n", "fn touch() extra n"},
                                            {"  lock n", "  text int extra = 2; def extra\n  lock n"}}));
  EXPECT_THAT(change.impacted(), IsEmpty());
}

TEST(LockRule, WrapperAndScopedWrapperNameTheSameLock) {
  ImpactOptions options;
  options.keep_all_accesses = true;
  const ImpactCase same(kWrapper, kWrapper, options);
  ASSERT_NE(same.find("Cache::Put W Cache::key_"), nullptr);
  ASSERT_NE(same.find("Cache::Find R Cache::key_"), nullptr);
  EXPECT_EQ(same.find("Cache::Put W Cache::key_")->locks, std::vector<std::string>{"mutex_"});
  EXPECT_EQ(same.find("Cache::Find R Cache::key_")->locks, std::vector<std::string>{"mutex_"});
}

TEST(LockRule, WrapperBodyEmptied) {
  const ImpactCase change(kWrapper, edit(kWrapper, {{"  lock this.PortMutex::raw_\n", ""}}));
  EXPECT_EQ(change.rule("Cache::Put W Cache::key_"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.rule("Cache::Find R Cache::key_"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.cause("Cache::Find R Cache::key_"), "lock mutex_ no longer held (was exclusive)");
}

TEST(LockRule, ScopedWrapperReleasesAtItsDestructor) {
  const std::string text =
      edit(kWrapper, {{"  call PortLock::~PortLock() on &lock\n",
                       "  call PortLock::~PortLock() on &lock\n  R this.Cache::key_\n"}});
  ImpactOptions options;
  options.keep_all_accesses = true;
  const ImpactCase same(text, text, options);
  for (const SharedAccess& access : same.impact.accesses)
    if (same.line(access) == "Cache::Put R Cache::key_") {
      EXPECT_THAT(access.locks, IsEmpty());
    }
}

TEST(LockRule, CalleeNowCalledWithoutTheLock) {
  const std::string text = R"(
var Queue::mu std::mutex mutex
var Queue::size int
fn Queue::PushLocked(item)
B1 -> B0
  R this.Queue::size; W this.Queue::size
fn Queue::Helper()
B1 -> B0
  call Queue::PushLocked(0) on this
fn Queue::Push(item)
B1 -> B0
  lock this.Queue::mu
  call Queue::Helper() on this
  unlock this.Queue::mu
)";
  const ImpactCase change(text, edit(text, {{"  call Queue::Helper() on this\n  unlock this.Queue::mu\n",
                                             "  unlock this.Queue::mu\n  call Queue::Helper() on this\n"}}));
  EXPECT_EQ(change.rule("Queue::PushLocked W Queue::size"), ImpactRule::SyncChanged);
}

TEST(LockRule, ReleaseInsideACalleeThatWasGivenTheLock) {
  const std::string text = R"(
var Db::mu std::mutex mutex
var Db::state int
fn Db::Flush()
B1 -> B0
  unlock this.Db::mu
  W this.Db::state
  lock this.Db::mu
fn Db::Write()
B1 -> B0
  lock this.Db::mu
  call Db::Flush() on this
  R this.Db::state
  unlock this.Db::mu
)";
  ImpactOptions options;
  options.keep_all_accesses = true;
  const ImpactCase same(text, text, options);
  EXPECT_THAT(same.find("Db::Flush W Db::state")->locks, IsEmpty());
  EXPECT_EQ(same.find("Db::Write R Db::state")->locks, std::vector<std::string>{"Db::mu"});
  const ImpactCase change(
      text,
      edit(text, {{"  W this.Db::state\n  lock this.Db::mu\n", "  lock this.Db::mu\n  W this.Db::state\n"}}));
  EXPECT_EQ(change.rule("Db::Flush W Db::state"), ImpactRule::SyncChanged);
}

/// A critical section around a call; the callee's body is `#b`.
const std::string kLender = R"(
var S::mu_ std::mutex mutex
var S::a int
var S::b int
fn S::Wait()
B1 -> B0
  #b text wait
  W this.S::b
  #e text end
fn S::Move() g
B1 -> B0
  guard g this.S::mu_
  W this.S::a
  call S::Wait() on this
  R this.S::a
  grel g
fn S::Other()
B1 -> B0
  W this.S::a
)";

TEST(LockRule, CalleeThatNowLendsTheLockCutsTheSectionsOfItsCallers) {
  const ImpactCase change(kLender, edit(kLender, {{"#b text wait", "#b unlock this.S::mu_"},
                                                  {"#e text end", "#e lock this.S::mu_"}}));
  EXPECT_EQ(change.rule("S::Move W S::a"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.rule("S::Move R S::a"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.rule("S::Wait W S::b"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.rule("S::Other W S::a"), ImpactRule::NotImpacted);
}

TEST(LockRule, ALockThatNoCallerCanHoldIsNoLoss) {
  // As a wrapper that unlocks and locks inside a function which has lost its guard: what it calls meanwhile
  // was never protected.
  const std::string text = R"(
var S::mu_ std::mutex mutex
var S::a int
var S::c int
fn S::Work()
B1 -> B0
  W this.S::c
fn S::Get() g
B1 -> B0
  #g guard g this.S::mu_
  W this.S::a
  unlock this.S::mu_
  call S::Work() on this
  lock this.S::mu_
  #r grel g
fn main()
B1 -> B0
  call S::Get()
)";
  const ImpactCase change(text, edit(text, {{"  #g guard g this.S::mu_\n", ""}, {"  #r grel g\n", ""}}));
  EXPECT_EQ(change.rule("S::Get W S::a"), ImpactRule::SyncChanged);
  EXPECT_THAT(change.impacted(), Not(Contains("S::Work W S::c")));
  const std::string held = edit(text, {{"fn main()\nB1 -> B0\n", "fn main()\nB1 -> B0\n  lock x.S::mu_\n"}});
  const ImpactCase loss(held, edit(held, {{"  #g guard g this.S::mu_\n", ""}, {"  #r grel g\n", ""}}));
  EXPECT_THAT(loss.impacted(), Contains("S::Work W S::c"));
}

TEST(LockRule, AnnotationsAloneChangeNothing) {
  const ImpactCase change(
      kCounter, edit(kCounter, {{"fn Counter::Get() g\nB1 -> B0\n",
                                 "fn Counter::Get() g\nB1 -> B0\n  assume this.Counter::log_mu_\n"}}));
  EXPECT_THAT(change.impacted(), IsEmpty());
}

}  // namespace
}  // namespace simrt::impact
