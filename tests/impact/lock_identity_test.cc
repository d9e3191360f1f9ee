// Which lock an operation means, decided by a value; and home-made locks that only guards call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"

namespace simrt::impact {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

TEST(LockIdentity, IndexWrittenThere) {
  const std::string text = R"(
var locks std::mutex* mutex
var total int
var outside int
fn Step() g
B1 -> B0
  #g guard g locks*; def g; text 0
  W total
  grel g; use g
  W outside
)";
  const ImpactCase change(text, edit(text, {{"text 0", "text 1"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("Step W total"));
}

TEST(LockIdentity, GetterThatPicksAnother) {
  const std::string text = R"(
var a std::mutex mutex
var b std::mutex mutex
var total int
fn pick(k)
B1 -> B0
  #r text k ? a : a; use k; bind return := &a
fn Step() g %m
B1 -> B0
  call pick(0); def %m
  guard g return:pick*; def g; use %m
  W total
  grel g; use g
)";
  const ImpactCase change(text, edit(text, {{"text k ? a : a", "text k ? a : b"}}));
  EXPECT_THAT(change.impacted(), Contains("Step W total"));
}

TEST(LockIdentity, ElementOfAContainer) {
  const std::string text = R"(
var locks std::array<std::mutex,4>
var total int
fn stripe(k) %e
B1 -> B0
  #e R locks whole; text k & 0; use k; def %e
  bind return := &locks*; use %e
fn Step() g %m
B1 -> B0
  call stripe(0); def %m
  guard g return:stripe*; def g; use %m
  W total
  grel g; use g
)";
  const ImpactCase change(text, edit(text, {{"text k & 0", "text k"}}));
  EXPECT_THAT(change.impacted(), Contains("Step W total"));
}

TEST(LockIdentity, ReferenceThatAConstructorKeeps) {
  const std::string text = R"(
var m std::mutex mutex
var n std::mutex mutex
var Account::lock_ std::mutex&
var Account::name_ int
var total int
fn Account::Account(lock, name) !ctor
B1 -> B0
  bind this.Account::lock_ := &lock*; use lock
  W this.Account::name_ own; use name
fn Account::Add() g
B1 -> B0
  guard g this.Account::lock_*; def g
  W total
  grel g; use g
  R this.Account::name_
fn Step() a
B1 -> B0
  #a call Account::Account(&m, 0) on &a; def a
  call Account::Add() on &a; use a
)";
  const ImpactCase change(text, edit(text, {{"Account(&m, 0)", "Account(&n, 0)"}}));
  EXPECT_THAT(change.impacted(), Contains("Account::Add W total"));
  EXPECT_THAT(change.impacted(), Not(Contains("Account::Add R Account::name_")));
}

TEST(LockIdentity, PointerAssignedAnew) {
  const std::string text = R"(
var m std::mutex mutex
var n std::mutex mutex
var p std::mutex*
var total int
fn Start()
B1 -> B0
  #p bind p := &m; W p
fn Step() g
B1 -> B0
  R p; guard g p*; def g
  W total
  grel g; use g
)";
  const ImpactCase change(text, edit(text, {{"bind p := &m", "bind p := &n"}}));
  EXPECT_THAT(change.impacted(), Contains("Step W total"));
}

const std::string kSpin = R"(
var Spin::flag_ std::atomic_flag atomic
var spin Spin
var total int
var outside int
fn Spin::lock()
B1 -> B0
  W this.Spin::flag_ acquire
fn Spin::unlock()
B1 -> B0
  #u W this.Spin::flag_ release
fn Step() g
B1 -> B0
  guard g spin; def g
  W total
  grel g; use g
  W outside
)";

TEST(LockIdentity, HomeMadeLockThatNoLongerUnlocks) {
  const ImpactCase change(kSpin, edit(kSpin, {{"  #u W this.Spin::flag_ release\n", ""}}));
  EXPECT_THAT(change.impacted(), Contains("Step W total"));
  EXPECT_THAT(change.impacted(), Not(Contains("Step W outside")));
}

TEST(LockIdentity, HomeMadeLockThatUnlocksRelaxed) {
  const ImpactCase change(kSpin, edit(kSpin, {{"flag_ release", "flag_ relaxed"}}));
  EXPECT_THAT(change.impacted(), Contains("Step W total"));
}

// ------------------------------------------------------------------ functions newly called through pointers

std::vector<std::string> blocks_of(const ImpactCase& change, const std::string& wanted) {
  std::vector<std::string> functions;
  for (const SharedAccess& access : change.impact.accesses)
    if (change.line(access) == wanted)
      for (const BlockId& block : change.blocks(access))
        functions.push_back(change.before.name_of(block.function));
  return functions;
}

TEST(NewlyCalled, ThroughAPointerWithAnotherInitialValue) {
  const std::string text = R"(
var total int
var p void(*)()
fn locked()
B1 -> B0
  W total
fn plain()
B1 -> B0
  W total
fn init_p() !static
B1 -> B0
  #p cb locked(); W p
fn Step()
B1 -> B0
  R p; icall p() on p
)";
  const ImpactCase change(text, edit(text, {{"cb locked()", "cb plain()"}}));
  EXPECT_THAT(blocks_of(change, "plain W total"), Contains("Step"));
}

TEST(NewlyCalled, TheBaseOfARemovedOverride) {
  const std::string text = R"(
var total int
fn Base::hit()
B1 -> B0
  W total
fn Step(b)
B1 -> B0
  vcall Base::hit() on b; use b
)";
  const ImpactCase change(text + "fn Sub::hit() overrides=Base::hit\nB1 -> B0\n  W total\n", text);
  EXPECT_THAT(blocks_of(change, "Base::hit W total"), Contains("Step"));
}

}  // namespace
}  // namespace simrt::impact
