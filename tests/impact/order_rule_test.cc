// Rule 3, ordering: atomics, condition variables, joins, once: one change per C++ reading; what must be
// impacted, why, and what must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"
#include "rule_programs.h"

namespace simrt::impact {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

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

/// The operation's caller starts a thread first: `work` is no part of what the store orders, unless it may
/// have ended before.
TEST(OrderRule, ThreadsStillRunningAreNotOrderedBefore) {
  const std::string text = R"(
var thread std::thread
var flag std::atomic<int> atomic
var a int
var b int
fn work()
B1 -> B0
  W b
fn publish()
B1 -> B0
  #s W flag release
fn start()
B1 -> B0
  spawn work(); start thread
fn test()
B1 -> B0
  W a
  call start()
  #t text nothing
  call publish()
fn other()
B1 -> B0
  R a
  R b
)";
  const auto weakened = [](const std::string& before) {
    return ImpactCase(before, edit(before, {{"#s W flag release", "#s W flag relaxed"}}));
  };
  const ImpactCase running = weakened(text);
  EXPECT_EQ(running.rule("test W a"), ImpactRule::SyncChanged);
  EXPECT_EQ(running.rule("work W b"), ImpactRule::NotImpacted);
  for (const char* acquire : {"join thread", "semacq flag", "R flag acquire", "lock flag", "call wait()"}) {
    const std::string waits = "fn wait()\nB1 -> B0\n  barrier flag\n";
    const ImpactCase taken_over = weakened(edit(text, {{"#t text nothing", acquire}}) + waits);
    EXPECT_EQ(taken_over.rule("work W b"), ImpactRule::SyncChanged) << acquire;
  }
  // A future may wait where it is destroyed.
  const ImpactCase with_futures = weakened(text + "fn elsewhere()\nB1 -> B0\n  get flag\n");
  EXPECT_EQ(with_futures.rule("work W b"), ImpactRule::SyncChanged);
  const ImpactCase removed(text, edit(text, {{"  #s W flag release\n", ""}}));
  EXPECT_EQ(removed.rule("test W a"), ImpactRule::SyncChanged);
  EXPECT_EQ(removed.rule("work W b"), ImpactRule::NotImpacted);
}

TEST(OrderRule, FlagOfAWaitIsNotSet) {
  const std::string text = R"(
var mu std::mutex mutex
var cv std::condition_variable
var stop bool
var other bool
var rounds int
fn end()
B1 -> B0
  W stop
  W other
  notify cv
fn run()
B1 -> B0
  lock mu
  wait cv; call run::stopped()
  W rounds
  unlock mu
fn run::stopped() !lambda in=run
B1 -> B0
  R stop
)";
  const ImpactCase change(text, edit(text, {{"  W stop\n", ""}}));
  EXPECT_THAT(change.impacted(), Contains("run W rounds"));
  const ImpactCase unrelated(text, edit(text, {{"  W other\n", ""}}));
  EXPECT_THAT(unrelated.impacted(), Not(Contains("run W rounds")));
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

}  // namespace
}  // namespace simrt::impact
