// The worked example of the SimRT paper: SVs, flags and ISVPs have to come out exactly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"

namespace simrt::impact {
namespace {

using ::testing::ElementsAre;

const char* const kBefore = R"(
var HM::table Entry**
var HM::mu std::mutex mutex
var HM::modCount int
var Entry::next Entry*
fn HM::clear() guard tab i
B5 -> B4
  guard guard this.HM::mu
  R this.HM::table; bind tab := this.HM::table; def tab
  text i = 0; def i
B4 -> B3 T, B1 F
  text i < n; use i
B3 -> B2
  W tab*; use tab; use i
B2 -> B4
  text ++i; def i; use i
B1 -> B0
  grel guard
fn HM::containsValue(v) tab i
B6 -> B5
  R this.HM::table; bind tab := this.HM::table; def tab
B5 -> B4 T, B1 F
  text v != nullptr; use v
B4 -> B3 T, B1 F
  text i < n; use i
B3 -> B4
  text found = Equals(tab, v); use tab; use v; def i; use i
B1 -> B0
  text return found
fn test()
B1 -> B0
  call HM::clear() on &map
  call HM::containsValue(0) on &map
)";

std::string after() {
  std::string text =
      edit(kBefore,
           {{"B1 -> B0\n  grel guard", "B1 -> B0\n  grel guard\n  R this.HM::modCount; W this.HM::modCount"},
            {"B5 -> B4 T, B1 F\n  text v != nullptr", "B5 -> B4 T, B7 F\n  text v != nullptr"},
            {"B4 -> B3 T, B1 F\n  text i < n; use i\nB3 -> B4\n  text found",
             "B7=B1 -> B0\n  call HM::containsNull() on this\nB4 -> B3 T, B1 F\n  text i < n; use i\n"
             "B3 -> B4\n  text found"}});
  return text + R"(
fn HM::containsNull() tab e
B3 -> B2
  R this.HM::table; bind tab := this.HM::table; def tab
B2 -> B1
  R tab*; bind e := tab*; def e; use tab
B1 -> B0
  R e.Entry::next; def e; use e
)";
}

class HmExample : public ::testing::Test {
 protected:
  HmExample() : example_(kBefore, after(), options()) {}
  static ImpactOptions options() {
    ImpactOptions options;
    options.keep_all_accesses = true;
    return options;
  }
  const SharedAccess& sv(const std::string& line) {
    const SharedAccess* access = example_.find(line);
    if (!access) throw std::invalid_argument("no access " + line);
    return *access;
  }
  ImpactCase example_;
};

TEST_F(HmExample, FlagsOfTheEightAccesses) {
  EXPECT_FALSE(sv("HM::containsValue R HM::table").impacted);  // sv1
  EXPECT_TRUE(sv("HM::containsNull R HM::table").impacted);    // sv2
  EXPECT_TRUE(sv("HM::containsNull R Entry::next").impacted);  // sv4
  EXPECT_FALSE(sv("HM::clear R HM::table").impacted);          // sv5
  EXPECT_TRUE(sv("HM::clear R HM::modCount").impacted);        // sv7
  EXPECT_TRUE(sv("HM::clear W HM::modCount").impacted);        // sv8
  std::size_t elements = 0;
  for (const SharedAccess& access : example_.impact.accesses) {
    if (access.alias_class != sv("HM::containsNull R ?").alias_class) continue;
    ++elements;
    EXPECT_EQ(access.impacted,
              access.mode == AccessMode::Read);  // sv3 read in containsNull, sv6 written in clear
  }
  EXPECT_EQ(elements, 2U);
  EXPECT_EQ(example_.impact.accesses.size(), 8U);
}

TEST_F(HmExample, NewFunctionMapsToItsCallerAndTheBlockOfTheCall) {
  const SharedAccess& sv2 = sv("HM::containsNull R HM::table");
  EXPECT_EQ(sv2.function, function_id("HM::containsNull"));
  EXPECT_EQ(sv2.mapped_function, function_id("HM::containsValue"));
  EXPECT_EQ(sv2.block, (BlockId{function_id("HM::containsValue"), 1}));  // where the walk stopped
  EXPECT_EQ(sv2.rule, ImpactRule::AccessChanged);
}

TEST_F(HmExample, ExactlyThreePairs) {
  EXPECT_THAT(example_.pairs(),
              ElementsAre("HM::clear R HM::modCount ~ HM::clear W HM::modCount",    // sv7, sv8
                          "HM::clear W ? ~ HM::containsNull R ?",                   // sv3, sv6
                          "HM::clear W HM::modCount ~ HM::clear W HM::modCount"));  // sv8, sv8
  EXPECT_EQ(example_.impact.pairs.size(), 3U);
}

TEST_F(HmExample, LockIsShownOnTheProtectedWrite) {
  EXPECT_EQ(sv("HM::clear W ?").locks, std::vector<std::string>{"HM::mu"});
  EXPECT_TRUE(sv("HM::clear W HM::modCount").locks.empty());
}

TEST(HmExampleDefault, PartnersOnlyAreReported) {
  const ImpactCase example(kBefore, after());
  EXPECT_EQ(example.impact.pairs.size(), 3U);
  EXPECT_EQ(example.find("HM::containsValue R HM::table"), nullptr);  // impacted sv2 reads only: no pair
  EXPECT_NE(example.find("HM::containsNull R HM::table"), nullptr);
}

}  // namespace
}  // namespace simrt::impact
