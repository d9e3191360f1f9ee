// Accesses of a constructor to its own object have no partner until the object is known to somebody else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"

namespace simrt::impact {
namespace {

using ::testing::Contains;
using ::testing::Not;

/// A constructor that sets a field which another method changes; `#c` is what else it does.
std::string object(const std::string& in_constructor) {
  return R"(
var S::value_ int
fn S::S() !ctor
B1 -> B0
  W this.S::value_ own
  #c )" + in_constructor +
         R"(
fn S::Set()
B1 -> B0
  #s text value_ = 1
  W this.S::value_
fn S::Init()
B1 -> B0
  text nothing
fn S::Publish()
B1 -> B0
  call Register(this)
fn S::Twice()
B1 -> B0
  call S::Publish() on this
fn S::Loop()
B1 -> B0
  call S::Loop() on this
fn Register(s)
B1 -> B0
  text s
fn Run()
B1 -> B0
  text run
)";
}

/// Pairs of the constructor's access after a change of S::Set.
std::vector<std::string> pairs(const std::string& in_constructor) {
  const std::string text = object(in_constructor);
  const ImpactCase change(text,
                          edit(text, {{"  #s text value_ = 1\n  W this.S::value_\n",
                                       "  W this.S::value_\n  #s text value_ = 1\n  W this.S::value_\n"}}));
  EXPECT_NE(change.impacted(), std::vector<std::string>{});
  return change.pairs();
}

const char* const kWithConstructor = "S::S W S::value_ ~ S::Set W S::value_";

TEST(Publication, AnObjectNobodyKnowsHasNoPairs) {
  EXPECT_THAT(pairs("text nothing"), Not(Contains(kWithConstructor)));
  EXPECT_THAT(pairs("call S::Init() on this"), Not(Contains(kWithConstructor)));
  EXPECT_THAT(pairs("call S::Loop() on this"), Not(Contains(kWithConstructor)));
  EXPECT_THAT(pairs("call std::enable_shared_from_this<S>::enable_shared_from_this() on this"),
              Not(Contains(kWithConstructor)));
}

TEST(Publication, ThisHandedOnMakesItKnown) {
  EXPECT_THAT(pairs("call Register(this)"), Contains(kWithConstructor));
  EXPECT_THAT(pairs("call Outside(this)"), Contains(kWithConstructor));
  EXPECT_THAT(pairs("bind g_instance := this"), Contains(kWithConstructor));
}

TEST(Publication, AMemberThatHandsThisOnMakesItKnown) {
  EXPECT_THAT(pairs("call S::Publish() on this"), Contains(kWithConstructor));
  EXPECT_THAT(pairs("call S::Twice() on this"), Contains(kWithConstructor));
  EXPECT_THAT(pairs("vcall S::Publish() on this"), Contains(kWithConstructor));
}

TEST(Publication, ThreadsCallbacksAndUnknownMembersMakeItKnown) {
  EXPECT_THAT(pairs("spawn Run()"), Contains(kWithConstructor));
  EXPECT_THAT(pairs("cb Run()"), Contains(kWithConstructor));
  EXPECT_THAT(pairs("call Framework::Framework() on this"), Contains(kWithConstructor));
}

}  // namespace
}  // namespace simrt::impact
