// One change per impact rule and per C++ reading of it; what must be impacted, why, and what must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"

namespace simrt::impact {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// ---------------------------------------------------------------------------------- locks (rule 3)

const std::string kCounter = R"(
var Counter::mu_ std::mutex mutex
var Counter::log_mu_ std::mutex mutex
var Counter::value_ int
var Counter::last_ int
fn Counter::Add(n) g
B1 -> B0
  guard g this.Counter::mu_
  R this.Counter::value_; W this.Counter::value_
  W this.Counter::last_
  grel g
fn Counter::Get() g
B1 -> B0
  guard g this.Counter::mu_
  R this.Counter::value_
  grel g
)";

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

TEST(AccessRule, MovedWithoutAnyLockRunsInAnotherOrder) {
  const std::string text = R"(
var S::a int
var S::b int
fn S::Set()
B1 -> B0
  W this.S::a
  W this.S::b
)";
  const ImpactCase change(text,
                          edit(text, {{"  W this.S::a\n  W this.S::b\n", "  W this.S::b\n  W this.S::a\n"}}));
  ASSERT_EQ(change.impacted().size(), 1U);
  EXPECT_THAT(change.impact.accesses[0].cause, HasSubstr("moved"));
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

const std::string kWrapper = R"(
var PortMutex::raw_ pthread_mutex_t mutex
var PortLock::mutex_ PortMutex*
var Cache::mutex_ PortMutex
var Cache::key_ int
fn PortMutex::Lock()
B1 -> B0
  lock this.PortMutex::raw_
fn PortMutex::Unlock()
B1 -> B0
  unlock this.PortMutex::raw_
fn PortLock::PortLock(mutex) !ctor
B1 -> B0
  bind this.PortLock::mutex_ := mutex
  call PortMutex::Lock() on this.PortLock::mutex_
fn PortLock::~PortLock() !dtor
B1 -> B0
  call PortMutex::Unlock() on this.PortLock::mutex_
fn Cache::Put(key) lock
B1 -> B0
  call PortLock::PortLock(&this.Cache::mutex_) on &lock
  W this.Cache::key_
  call PortLock::~PortLock() on &lock
fn Cache::Find(key)
B1 -> B0
  call PortMutex::Lock() on &this.Cache::mutex_
  R this.Cache::key_
  call PortMutex::Unlock() on &this.Cache::mutex_
)";

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

TEST(LockRule, AnnotationsAloneChangeNothing) {
  const ImpactCase change(
      kCounter, edit(kCounter, {{"fn Counter::Get() g\nB1 -> B0\n",
                                 "fn Counter::Get() g\nB1 -> B0\n  assume this.Counter::log_mu_\n"}}));
  EXPECT_THAT(change.impacted(), IsEmpty());
}

// -------------------------------------------------------------------------------- ordering (rule 3)

const std::string kHandoff = R"(
var Handoff::payload_ int
var Handoff::ready_ std::atomic<bool> atomic
fn Handoff::Publish(payload)
B1 -> B0
  W this.Handoff::payload_
  #s W this.Handoff::ready_ release
fn Handoff::Take() r
B3 -> B2 F, B1 T
  #l R this.Handoff::ready_ acquire
B2 -> B0
  text return false
B1 -> B0
  R this.Handoff::payload_
)";

TEST(OrderRule, ReleaseWeakened) {
  const ImpactCase change(kHandoff, edit(kHandoff, {{"ready_ release", "ready_ relaxed"}}));
  EXPECT_EQ(change.rule("Handoff::Publish W Handoff::payload_"), ImpactRule::SyncChanged);
  EXPECT_THAT(change.cause("Handoff::Publish W Handoff::payload_"),
              HasSubstr("release store to Handoff::ready_"));
  EXPECT_EQ(change.rule("Handoff::Take R Handoff::payload_"), ImpactRule::NotImpacted);
  EXPECT_THAT(change.pairs(),
              Contains("Handoff::Publish W Handoff::payload_ ~ Handoff::Take R Handoff::payload_"));
}

TEST(OrderRule, AcquireWeakenedImpactsWhatComesBehind) {
  const ImpactCase change(kHandoff, edit(kHandoff, {{"ready_ acquire", "ready_ relaxed"}}));
  EXPECT_NE(change.rule("Handoff::Take R Handoff::payload_"), ImpactRule::NotImpacted);
  EXPECT_EQ(change.rule("Handoff::Publish W Handoff::payload_"), ImpactRule::NotImpacted);
}

TEST(OrderRule, FenceRemoved) {
  const std::string text =
      edit(kHandoff, {{"  #s W", "  fence release\n  #s W"}, {"ready_ release", "ready_ relaxed"}});
  const ImpactCase change(text, edit(text, {{"  fence release\n", ""}}));
  EXPECT_EQ(change.rule("Handoff::Publish W Handoff::payload_"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.cause("Handoff::Publish W Handoff::payload_"), "release fence removed");
}

const std::string kMailbox = R"(
var Mailbox::mu std::mutex mutex
var Mailbox::cv std::condition_variable
var Mailbox::full bool
var Mailbox::message int
fn Mailbox::Send(m) g
B1 -> B0
  guard g this.Mailbox::mu
  W this.Mailbox::message
  W this.Mailbox::full
  notify this.Mailbox::cv
  grel g
fn Mailbox::Receive() g
B1 -> B0
  guard g this.Mailbox::mu
  #w cb Mailbox::Receive::lambda(); wait this.Mailbox::cv
  W this.Mailbox::full
  R this.Mailbox::message
  grel g
fn Mailbox::Receive::lambda() !lambda in=Mailbox::Receive
B1 -> B0
  #r R this.Mailbox::full; bind return := 0
)";

TEST(OrderRule, NotifyRemoved) {
  const ImpactCase change(kMailbox, edit(kMailbox, {{"  notify this.Mailbox::cv\n", ""}}));
  EXPECT_EQ(change.rule("Mailbox::Send W Mailbox::full"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.cause("Mailbox::Send W Mailbox::message"), "notification of Mailbox::cv removed");
  EXPECT_EQ(change.rule("Mailbox::Receive R Mailbox::message"), ImpactRule::NotImpacted);
}

TEST(OrderRule, NotifyReachesWhatItsFunctionCallsButNotFurther) {
  const std::string text = R"(
var S::cv std::condition_variable
var S::a int
var S::b int
fn deep()
B1 -> B0
  W this.S::b
fn fill()
B1 -> B0
  W this.S::a
  call deep()
fn send()
B1 -> B0
  call fill()
  notify this.S::cv
)";
  const ImpactCase change(text, edit(text, {{"  notify this.S::cv\n", ""}}));
  EXPECT_THAT(change.impacted(), ElementsAre("fill W S::a"));
}

TEST(OrderRule, PredicateDropped) {
  const ImpactCase change(kMailbox,
                          edit(kMailbox, {{"  #w cb Mailbox::Receive::lambda(); wait this.Mailbox::cv",
                                           "  #w wait this.Mailbox::cv"}}));
  EXPECT_EQ(change.rule("Mailbox::Receive R Mailbox::message"), ImpactRule::SyncChanged);
}

TEST(OrderRule, PredicateChanged) {
  const ImpactCase change(kMailbox,
                          edit(kMailbox, {{"#r R this.Mailbox::full;", "#r R this.Mailbox::full; text !"}}));
  EXPECT_EQ(change.cause("Mailbox::Receive R Mailbox::message"), "predicate of a wait altered");
}

TEST(OrderRule, ConditionAroundAWaitChanged) {
  const std::string text = R"(
var Box::mu std::mutex mutex
var Box::cv std::condition_variable
var Box::count int
var Box::data int
fn Box::Pop() g
B4 -> B3
  guard g this.Box::mu
B3 -> B2 T, B1 F
  #c R this.Box::count; text == 0
B2 -> B3
  wait this.Box::cv
B1 -> B0
  R this.Box::data
  grel g
fn Box::Push() g
B1 -> B0
  guard g this.Box::mu
  W this.Box::data
  grel g
)";
  const ImpactCase change(text, edit(text, {{"text == 0", "text == 1"}}));
  EXPECT_EQ(change.rule("Box::Pop R Box::data"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.rule("Box::Push W Box::data"), ImpactRule::NotImpacted);
}

const std::string kWorker = R"(
var Worker::thread_ std::thread
var Worker::result_ int
fn Worker::Run(limit)
B1 -> B0
  W this.Worker::result_
fn Worker::RunTwice(limit)
B1 -> B0
  W this.Worker::result_
fn Worker::Start(limit)
B1 -> B0
  #s spawn Worker::Run(limit) on this; start this.Worker::thread_
fn Worker::Finish()
B1 -> B0
  #j join this.Worker::thread_
fn Worker::Result()
B1 -> B0
  R this.Worker::result_
fn test() w
B1 -> B0
  call Worker::Start(0) on &w
  call Worker::Finish() on &w
  call Worker::Result() on &w
)";

TEST(OrderRule, JoinToDetachImpactsTheThreadAndWhatTheCallersDoNext) {
  const ImpactCase change(kWorker, edit(kWorker, {{"#j join", "#j detach"}}));
  EXPECT_EQ(change.rule("Worker::Run W Worker::result_"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.rule("Worker::Result R Worker::result_"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.rule("Worker::RunTwice W Worker::result_"), ImpactRule::NotImpacted);
  EXPECT_THAT(change.cause("Worker::Run W Worker::result_"), HasSubstr("join of Worker::thread_"));
}

TEST(OrderRule, JoinRemoved) {
  const ImpactCase change(kWorker, edit(kWorker, {{"  #j join this.Worker::thread_\n", ""}}));
  EXPECT_EQ(change.rule("Worker::Result R Worker::result_"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.rule("Worker::Run W Worker::result_"), ImpactRule::SyncChanged);
}

TEST(CallRule, ThreadEntryChanged) {
  const ImpactCase change(kWorker, edit(kWorker, {{"#s spawn Worker::Run(", "#s spawn Worker::RunTwice("}}));
  EXPECT_EQ(change.rule("Worker::RunTwice W Worker::result_"), ImpactRule::CallChanged);
  // No recorded test has run RunTwice, so its own block cannot select any; the new thread is started in
  // Start.
  bool on_new_thread = false;
  for (const SharedAccess& access : change.impact.accesses)
    if (change.line(access) == "Worker::RunTwice W Worker::result_" && access.block == BlockId{})
      on_new_thread = access.reached_from == BlockId{function_id("Worker::Start"), 1};
  EXPECT_TRUE(on_new_thread);
  EXPECT_THAT(change.pairs(),
              Contains("Worker::Result R Worker::result_ ~ Worker::RunTwice W Worker::result_"));
}

TEST(OrderRule, OnceRemoved) {
  const std::string text = R"(
var Settings::loaded_ std::once_flag
var Settings::verbosity_ int
fn Settings::Load()
B1 -> B0
  W this.Settings::verbosity_
fn Settings::Verbosity::lambda() !lambda in=Settings::Verbosity
B1 -> B0
  call Settings::Load() on this
fn Settings::Verbosity()
B1 -> B0
  #o cb Settings::Verbosity::lambda(); once this.Settings::loaded_
  R this.Settings::verbosity_
)";
  const ImpactCase change(text,
                          edit(text, {{"  #o cb Settings::Verbosity::lambda(); once this.Settings::loaded_",
                                       "  #o call Settings::Load() on this"}}));
  EXPECT_NE(change.rule("Settings::Load W Settings::verbosity_"), ImpactRule::NotImpacted);
  EXPECT_EQ(change.rule("Settings::Verbosity R Settings::verbosity_"), ImpactRule::SyncChanged);
}

TEST(OrderRule, SmallWrapperPassesItsEffectToItsCallers) {
  const std::string text = R"(
var Event::sem std::counting_semaphore
var Job::data int
fn Event::Signal()
B1 -> B0
  #s semrel this.Event::sem
fn produce()
B1 -> B0
  W job.Job::data
  call Event::Signal() on &event
fn consume()
B1 -> B0
  R job.Job::data
)";
  const ImpactCase change(text, edit(text, {{"  #s semrel this.Event::sem\n", ""}}));
  EXPECT_EQ(change.rule("produce W Job::data"), ImpactRule::SyncChanged);
  EXPECT_EQ(change.rule("consume R Job::data"), ImpactRule::NotImpacted);
}

TEST(OrderRule, StaticInitialisationMadeEager) {
  const std::string text = R"(
var instance Pool*
fn Get()
B1 -> B0
  static instance
  R instance
)";
  const ImpactCase change(text, edit(text, {{"  static instance\n", "  W instance\n"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("Get R instance", "Get W instance"));
}

// -------------------------------------------------------------------------------- safety (rule 4)

TEST(SafetyRule, AtomicToPlainImpactsUnchangedFunctionsToo) {
  const std::string text = R"(
var hits std::atomic<int> atomic
fn hit()
B1 -> B0
  R hits seq_cst; W hits seq_cst
fn show()
B1 -> B0
  R hits seq_cst
)";
  const ImpactCase change(text, edit(text, {{"var hits std::atomic<int> atomic", "var hits int"},
                                            {"  R hits seq_cst; W hits seq_cst", "  R hits; W hits"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("hit R hits", "hit W hits", "show R hits"));
  EXPECT_EQ(change.rule("show R hits"), ImpactRule::SafetyDropped);
  EXPECT_EQ(change.cause("hit W hits"), "hits is no longer atomic");
}

TEST(SafetyRule, ThreadLocalDropped) {
  const std::string text = R"(
var scratch int thread_local
fn format()
B1 -> B0
  W scratch tls
)";
  const ImpactCase change(text, edit(text, {{"int thread_local", "int"}, {"W scratch tls", "W scratch"}}));
  EXPECT_EQ(change.rule("format W scratch"), ImpactRule::SafetyDropped);
  EXPECT_EQ(change.cause("format W scratch"), "scratch is no longer thread_local");
  EXPECT_THAT(change.pairs(), ElementsAre("format W scratch ~ format W scratch"));
}

TEST(SafetyRule, ThreadLocalItselfIsNotShared) {
  const std::string text = "var scratch int thread_local\nfn format()\nB1 -> B0\n  W scratch tls\n";
  const ImpactCase change(text, edit(text, {{"  W scratch tls", "  W scratch tls\n  R scratch tls"}}));
  EXPECT_THAT(change.impact.accesses, IsEmpty());
}

TEST(SafetyRule, TypeOfAFieldChanged) {
  const std::string text = R"(
var Gauge::level_ short
fn Gauge::Raise(by)
B1 -> B0
  R this.Gauge::level_; W this.Gauge::level_
)";
  const ImpactCase change(text, edit(text, {{"level_ short", "level_ long"}}));
  EXPECT_EQ(change.cause("Gauge::Raise W Gauge::level_"),
            "type of Gauge::level_ changed (was short, now long)");
}

TEST(SafetyRule, RenumberedLocalsAreNoChangedVariables) {
  const std::string text = "var x int\nfn f() p!\nB1 -> B0\n  W p\n  W x\n";
  const Program before = parse_program(text), after = parse_program(text);
  ProgramDiff diff;
  VariableFacts local;
  local.id = local_of(function_id("f"), 0);
  local.kind = VariableKind::Local;
  Program typed_before = before, typed_after = after;
  local.type = "int";
  typed_before.variables.push_back(local);
  local.type = "long";
  typed_after.variables.push_back(local);
  typed_before.index();
  typed_after.index();
  diff.variables = {local.id};
  EXPECT_THAT(analyse_impact(typed_before, typed_after, diff).accesses, IsEmpty());
}

TEST(SafetyRule, KindOfAMutexChangedImpactsWhatItProtects) {
  const ImpactCase change(kCounter,
                          edit(kCounter, {{"var Counter::mu_ std::mutex", "var Counter::mu_ NullMutex"}}));
  EXPECT_EQ(change.rule("Counter::Get R Counter::value_"), ImpactRule::SafetyDropped);
}

// -------------------------------------------------------------------------------- accesses (rule 1)

const std::string kPlain = R"(
var S::a int
var S::b int
fn S::Set(v)
B1 -> B0
  #x W this.S::a
  #y R this.S::b; call Log(0)
fn S::Get()
B1 -> B0
  R this.S::a
  R this.S::b
fn Log(n)
B1 -> B0
  W log_size
var log_size int
)";

TEST(AccessRule, AddedAccess) {
  const ImpactCase change(kPlain,
                          edit(kPlain, {{"  #x W this.S::a\n", "  #x W this.S::a\n  W this.S::b\n"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("S::Set W S::b"));
  EXPECT_EQ(change.cause("S::Set W S::b"), "write of S::b added");
}

TEST(AccessRule, AlteredValue) {
  const ImpactCase change(kPlain, edit(kPlain, {{"#x W this.S::a", "#x text 2 *; W this.S::a"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("S::Set W S::a"));
}

TEST(AccessRule, ReadBesideAChangedCallStays) {
  const ImpactCase change(kPlain, edit(kPlain, {{"call Log(0)", "call Log(v)"}}));
  EXPECT_EQ(change.rule("S::Set R S::b"), ImpactRule::NotImpacted);
  EXPECT_EQ(change.rule("Log W log_size"), ImpactRule::CallChanged);
}

TEST(AccessRule, RemovedWriteImpactsTheRestOfTheFunction) {
  const std::string text = R"(
var S::a int
fn S::Reset()
B1 -> B0
  W this.S::a
  text step
  R this.S::a
fn S::Set()
B1 -> B0
  W this.S::a
)";
  const ImpactCase change(text, edit(text, {{"  W this.S::a\n  text step", "  text step"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("S::Reset R S::a"));
  EXPECT_EQ(change.cause("S::Reset R S::a"), "write of S::a removed");
}

TEST(AccessRule, InitialValueOfAGlobalShowsInItsReadersNotInTheInitialiser) {
  const std::string text = R"(
var limit int
fn init_limit() !static
B1 -> B0
  #i W limit
fn use()
B1 -> B0
  R limit
fn set()
B1 -> B0
  W limit
)";
  const ImpactCase change(text, edit(text, {{"#i W limit", "#i text 7; W limit"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("set W limit", "use R limit"));
}

TEST(AccessRule, LocalsAreNotShared) {
  const std::string text = "fn f(n) x\nB1 -> B0\n  text x = n; def x; W x\n";
  const ImpactCase change(text, edit(text, {{"x = n", "x = n + 1"}}));
  EXPECT_THAT(change.impact.accesses, IsEmpty());
}

TEST(AccessRule, EscapingLocalIsShared) {
  const std::string text = R"(
fn f() done!
B1 -> B0
  W done
  #s spawn f::lambda()
  R done
fn f::lambda() !lambda in=f
B1 -> B0
  #w W local:f:0
)";
  const ImpactCase change(text, edit(text, {{"#w W local:f:0", "#w text 2; W local:f:0"}}));
  EXPECT_EQ(change.impacted().size(), 1U);
  EXPECT_EQ(change.impact.pairs.size(), 3U);  // with itself, with the write and the read in f
}

// ----------------------------------------------------------------------------------- calls (rule 2)

TEST(CallRule, AddedCallReachesCalleesOfCallees) {
  const std::string text =
      edit(kPlain, {{"fn Log(n)\nB1 -> B0\n  W log_size\n",
                     "fn Log(n)\nB1 -> B0\n  call Grow()\nfn Grow()\nB1 -> B0\n  W log_size\n"}});
  const ImpactCase change(
      text, edit(text, {{"fn S::Get()\nB1 -> B0\n", "fn S::Get()\nB1 -> B0\n  call Log(0)\n"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("Grow W log_size"));
  EXPECT_EQ(change.cause("Grow W log_size"), "call of Log added");
}

TEST(CallRule, AddedCallAlsoMapsItsCalleesToTheCallSite) {
  const ImpactCase change(
      kPlain, edit(kPlain, {{"fn S::Get()\nB1 -> B0\n", "fn S::Get()\nB1 -> B0\n  call Log(0)\n"}}));
  std::set<BlockId> blocks;
  for (const SharedAccess& access : change.impact.accesses) blocks.insert(access.block);
  EXPECT_TRUE(blocks.contains(BlockId{function_id("Log"), 1}));
  EXPECT_TRUE(blocks.contains(BlockId{function_id("S::Get"), 1}));
}

TEST(CallRule, VirtualCallReachesOverridersAndANewOne) {
  const std::string text = R"(
var Sink::size int
var total int
fn Sink::Write()
B1 -> B0
  text base
fn FileSink::Write() overrides=Sink::Write
B1 -> B0
  W this.Sink::size
fn Tally()
B1 -> B0
  W total
fn flush(sink)
B1 -> B0
  #f text flush
)";
  const ImpactCase called(text, edit(text, {{"#f text flush", "#f vcall Sink::Write() on sink"}}));
  EXPECT_EQ(called.rule("FileSink::Write W Sink::size"), ImpactRule::CallChanged);
  const std::string calling = edit(text, {{"#f text flush", "#f vcall Sink::Write() on sink"}});
  const ImpactCase overrider(
      calling,
      calling + "fn NetSink::Write() overrides=Sink::Write\nB1 -> B0\n  W this.Sink::size\n  call Tally()\n");
  EXPECT_EQ(overrider.rule("NetSink::Write W Sink::size"), ImpactRule::AccessChanged);
  EXPECT_EQ(overrider.rule("Tally W total"), ImpactRule::CallChanged);
  EXPECT_EQ(overrider.find("NetSink::Write W Sink::size")->mapped_function, function_id("flush"));
}

TEST(CallRule, OverriderRemovedBringsTheBaseBack) {
  const std::string text = R"(
var Sink::size int
fn Sink::Write()
B1 -> B0
  W this.Sink::size
)";
  const ImpactCase change(text + "fn FileSink::Write() overrides=Sink::Write\nB1 -> B0\n  text nothing\n",
                          text);
  EXPECT_EQ(change.cause("Sink::Write W Sink::size"), "overrider FileSink::Write removed");
}

TEST(CallRule, CallThroughAPointerReachesWhatIsHandedOn) {
  const std::string text = R"(
var total int
fn add(x)
B1 -> B0
  W total
fn setup()
B1 -> B0
  cb add(); call Register(0)
fn run(f)
B1 -> B0
  #r text run
)";
  const ImpactCase change(text, edit(text, {{"#r text run", "#r icall f(0)"}}));
  EXPECT_EQ(change.rule("add W total"), ImpactRule::CallChanged);
}

TEST(CallRule, UnrelatedNewFunctionImpactsNothing) {
  const ImpactCase change(kPlain, kPlain + "fn Unused()\nB1 -> B0\n  W log_size\n  call Log(0)\n");
  EXPECT_THAT(change.impact.accesses, IsEmpty());
}

TEST(CallRule, RemovedFunctionImpactsNothing) {
  const ImpactCase change(kPlain + "fn Unused()\nB1 -> B0\n  W log_size\n", kPlain);
  EXPECT_THAT(change.impact.accesses, IsEmpty());
}

TEST(CallRule, TestCodeIsNoCause) {
  const std::string text = kPlain + "fn TEST_Log() file=log_test.cc\nB1 -> B0\n  text setup\n";
  const std::string changed = edit(text, {{"  text setup\n", "  text setup\n  call Log(0)\n"}});
  EXPECT_EQ(ImpactCase(text, changed).rule("Log W log_size"), ImpactRule::CallChanged);
  ImpactOptions options;
  options.is_test_code = [](const FunctionFacts& function) { return function.file == "log_test.cc"; };
  EXPECT_THAT(ImpactCase(text, changed, options).impact.accesses, IsEmpty());
}

// ------------------------------------------------------------------------------- forward slice (rule 5)

TEST(SliceRule, DataThroughALocal) {
  const std::string text = R"(
var S::a int
var S::b int
fn S::Set(v) x
B1 -> B0
  #x text x = v; def x; use v
  W this.S::a; use x
  W this.S::b
)";
  const ImpactCase change(text, edit(text, {{"x = v;", "x = v + 1;"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("S::Set W S::a"));
  EXPECT_EQ(change.rule("S::Set W S::a"), ImpactRule::ForwardSlice);
}

TEST(SliceRule, RedefinitionEndsTheFlow) {
  const std::string text = R"(
var S::a int
fn S::Set(v) x
B1 -> B0
  #x text x = v; def x
  text x = 0; def x
  W this.S::a; use x
)";
  const ImpactCase change(text, edit(text, {{"x = v;", "x = v + 1;"}}));
  EXPECT_THAT(change.impacted(), IsEmpty());
}

TEST(SliceRule, ControlOverABranch) {
  const std::string text = R"(
var S::a int
var S::b int
fn S::Set(v)
B3 -> B2 T, B1 F
  #c text v > 0; use v
B2 -> B1
  W this.S::a
B1 -> B0
  W this.S::b
)";
  const ImpactCase change(text, edit(text, {{"v > 0", "v > 1"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("S::Set W S::a"));  // S::b runs either way
}

TEST(SliceRule, RemovedConditionImpactsWhatItGuarded) {
  const std::string text = R"(
var S::a int
fn S::Set(v)
B3 -> B2 T, B1 F
  text v > 0; use v
B2 -> B1
  W this.S::a
B1 -> B0
  text done
)";
  const ImpactCase change(text, edit(text, {{"B3 -> B2 T, B1 F\n  text v > 0; use v", "B3 -> B2"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("S::Set W S::a"));
}

TEST(SliceRule, IntoAParameterOfACallee) {
  const std::string text = R"(
var S::a int
var S::b int
fn S::Store(first, second)
B1 -> B0
  W this.S::a; use first
  W this.S::b; use second
fn S::Set(v) x y
B1 -> B0
  #x text x = v; def x
  text y = v; def y
  call S::Store(x, y) on this; use x; use y
)";
  const ImpactCase change(text, edit(text, {{"x = v;", "x = v + 1;"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("S::Store W S::a"));
}

TEST(SliceRule, OutOfAResult) {
  const std::string text = R"(
var S::a int
fn pick() r
B1 -> B0
  #r text r = 1; def r
  bind return := r; use r
fn S::Set() x
B1 -> B0
  call pick(); bind x := return:pick; def x
  W this.S::a; use x
)";
  const ImpactCase change(text, edit(text, {{"r = 1", "r = 2"}}));
  EXPECT_EQ(change.rule("S::Set W S::a"), ImpactRule::ForwardSlice);
}

TEST(SliceRule, ConstantThatGuardsAWrite) {
  const std::string text = R"(
var kLimit int const
var Meter::total int
fn init_kLimit() !static
B1 -> B0
  #k W kLimit const
fn Meter::Step()
B3 -> B2 T, B1 F
  R kLimit const
B2 -> B1
  W this.Meter::total
B1 -> B0
  text done
)";
  const ImpactCase change(text, edit(text, {{"#k W kLimit", "#k text 50; W kLimit"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("Meter::Step W Meter::total"));
  EXPECT_EQ(change.cause("Meter::Step W Meter::total"), "depends on the value of kLimit");
}

TEST(SliceRule, LoopCarriedValue) {
  const std::string text = R"(
var S::a int
fn S::Set(n) x i
B4 -> B3
  #x text x = 1; def x
B3 -> B2 T, B1 F
  text i < n; use i; use n
B2 -> B3
  text x = x * 2; use x; def x
B1 -> B0
  W this.S::a; use x
)";
  const ImpactCase change(text, edit(text, {{"x = 1", "x = 3"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("S::Set W S::a"));
}

}  // namespace
}  // namespace simrt::impact
