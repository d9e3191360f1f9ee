// Rule 5, the forward slice: one change per C++ reading; what must be impacted, why, and what must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"

namespace simrt::impact {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

// A dropped lock is such a statement: its constructor's value ends in the declaration.
TEST(SliceRule, TheValueOfARemovedStatementGoesWithIt) {
  const std::string text = R"(
var S::a int
fn S::Set(v) %gone %kept
B1 -> B0
  text sizeof(v); def %gone
  text more; use %gone
  text v + 1; def %kept
  W this.S::a; use %kept
)";
  const ImpactCase change(text, edit(text, {{"%gone %kept", "%kept"},
                                            {"  text sizeof(v); def %gone\n  text more; use %gone\n", ""}}));
  EXPECT_THAT(change.impacted(), IsEmpty());
}

TEST(SliceRule, AnAlteredStatementsValueGoesOn) {
  const std::string text = R"(
var S::a int
fn S::Set(v) %other %value
B1 -> B0
  text f(v); def %other
  #x text v + 1; def %value
  W this.S::a; use %value
)";
  const ImpactCase change(text, edit(text, {{"v + 1", "v + 2"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("S::Set W S::a"));
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

TEST(SliceRule, AComputedResultDecidesABranchOfTheCaller) {
  const std::string text = R"(
var S::a int
var S::b int
fn need(t)
B1 -> B0
  #r text t > 1; use t; bind return := 0
fn S::Set()
B3 -> B2 T, B1 F
  call need(0)
B2 -> B1
  W this.S::a
B1 -> B0
  W this.S::b
)";
  const ImpactCase change(text, edit(text, {{"t > 1", "t > 0"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("S::Set W S::a"));
}

TEST(SliceRule, AResultGoesThroughCallsByPointer) {
  const std::string text = R"(
var S::a int
fn pick()
B1 -> B0
  #r text 1; bind return := 0
fn install()
B1 -> B0
  cb pick()
fn S::Set() x
B1 -> B0
  icall hook(); def x
  W this.S::a; use x
)";
  const ImpactCase change(text, edit(text, {{"text 1", "text 2"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("S::Set W S::a"));
}

TEST(SliceRule, ALockTakenByAnAffectedBranchProtectsWhatComesBehindIt) {
  const std::string text = R"(
var S::mu mutex mutex
var S::before int
var S::a int
var S::behind int
fn need()
B1 -> B0
  #r text true; bind return := 0
fn S::Add()
B4 -> B3
  W this.S::before
B3 -> B2 T, B1 F
  call need()
B2 -> B1
  lock this.S::mu
B1 -> B0
  W this.S::a
  unlock this.S::mu
  W this.S::behind
)";
  const ImpactCase change(text, edit(text, {{"true", "false"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("S::Add W S::a"));
}

TEST(SliceRule, ALockTakenForTheCallerByAnAffectedBranch) {
  const std::string text = R"(
var S::mu mutex mutex
var S::a int
var S::behind int
fn need()
B1 -> B0
  #r text true; bind return := 0
fn S::Enter()
B3 -> B2 T, B1 F
  call need()
B2 -> B1
  lock this.S::mu
B1 -> B0
  text done
fn S::Add()
B1 -> B0
  call S::Enter() on this
  W this.S::a
  unlock this.S::mu
  W this.S::behind
)";
  const ImpactCase change(text, edit(text, {{"true", "false"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("S::Add W S::a"));
}

TEST(SliceRule, IntoACopyInAClosure) {
  const std::string text = R"(
var slots int
var other int
fn inner() i k !lambda in=f
B1 -> B0
  W slots*; use i
  W other; use k
fn f() j k
B1 -> B0
  #j text j = 2; def j
  text k = 2; def k
  text [j, k]; use j; use k; bind local:inner:0 := j; bind local:inner:1 := k
  spawn inner()
)";
  const ImpactCase change(text, edit(text, {{"j = 2", "j = 1"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("inner W slots"));
  const std::string numbers = edit(text, {{"local:inner:0 := j", "local:inner:0 := 0"}});
  const ImpactCase computed(numbers, edit(numbers, {{"j = 2", "j = 1"}}));
  EXPECT_THAT(computed.impacted(), ElementsAre("inner W slots"));
}

// `[q]` of a smart pointer: its copy is a statement of its own.
TEST(SliceRule, IntoACopyInAClosureThroughAValue) {
  const std::string text = R"(
var D::n int
fn inner() q !lambda in=f
B1 -> B0
  W q.D::n; use q
fn f() q %copy
B1 -> B0
  #q text q = make(); def q
  text q; use q; def %copy
  text [q]; use %copy; bind local:inner:0 := q
  spawn inner()
)";
  const ImpactCase change(text, edit(text, {{"q = make()", "q = p"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("inner W D::n"));
}

TEST(SliceRule, AnInitCaptureChanges) {
  const std::string text = R"(
var slots int
fn inner() i !lambda in=f
B1 -> B0
  W slots*; use i
fn f()
B1 -> B0
  #c text [i = 1]; bind local:inner:0 := 0
  spawn inner()
)";
  const ImpactCase change(text, edit(text, {{"i = 1", "i = 2"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("inner W slots"));
}

TEST(SliceRule, AMemberOfAnAffectedLocalIsAnAffectedArgument) {
  const std::string text = R"(
var S::a int
var Box::n int
fn S::Store(n)
B1 -> B0
  W this.S::a; use n
fn S::Set() box
B1 -> B0
  #x text box = {1}; def box
  call S::Store(box.Box::n) on this; use box
)";
  const ImpactCase change(text, edit(text, {{"{1}", "{2}"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("S::Store W S::a"));
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
