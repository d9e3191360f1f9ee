// Rule 1, accesses: one change per C++ reading; what must be impacted, why, and what must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"
#include "rule_programs.h"

namespace simrt::impact {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

}  // namespace
}  // namespace simrt::impact
