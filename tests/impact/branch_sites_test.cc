// Code that a test has to be credited with although it was not seen to run it: behind branches whose
// condition the change affects, and in the initialiser of a function-local static.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"

namespace simrt::impact {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// "f:3" for every block that stands for an access to the variable.
std::set<std::string> sites_of(const ImpactCase& change, const std::string& variable) {
  std::set<std::string> sites;
  for (const SharedAccess& access : change.impact.accesses)
    if (change.after.name_of(access.variable) == variable)
      for (const BlockId& block : change.blocks(access))
        sites.insert(change.before.name_of(block.function) + ":" + std::to_string(block.ordinal));
  return sites;
}

const std::string kPay = R"(
var total int
fn fee()
B1 -> B0
  #r bind return := 0; text 0
fn charge()
B1 -> B0
  W total
fn pay() %v
B3 -> B2 T, B1 F
  call fee(); def %v
  text if; use %v
B2 -> B1
  call charge()
B1 -> B0
  text end
)";

TEST(BranchSites, CalleeOfABranchThatAnotherFunctionDecides) {
  const ImpactCase change(kPay, edit(kPay, {{"text 0", "text 1"}}));
  EXPECT_THAT(sites_of(change, "total"), IsSupersetOf({"charge:1", "pay:3"}));
}

TEST(BranchSites, AccessUnderABranchThatAnotherFunctionDecides) {
  const std::string text = edit(kPay, {{"  call charge()", "  W total"}});
  const ImpactCase change(text, edit(text, {{"text 0", "text 1"}}));
  EXPECT_THAT(sites_of(change, "total"), IsSupersetOf({"pay:2", "pay:3"}));
}

TEST(BranchSites, ConditionOfItsOwnFunction) {
  const std::string text = edit(kPay, {{"text if; use %v", "#c text if 1"}});
  const ImpactCase change(text, edit(text, {{"text if 1", "text if 2"}}));
  EXPECT_THAT(sites_of(change, "total"), IsSupersetOf({"charge:1", "pay:3"}));
}

// The inner condition is evaluated only where the outer one holds, which no test may have seen.
TEST(BranchSites, NestedConditions) {
  const std::string text = edit(kPay, {{"B2 -> B1\n  call charge()",
                                        "B2 -> B4 T, B1 F\n  call fee(); text if\n"
                                        "B4 -> B1\n  call charge()"}});
  const ImpactCase change(text, edit(text, {{"text 0", "text 1"}}));
  EXPECT_THAT(sites_of(change, "total"), IsSupersetOf({"pay:2", "pay:3"}));
}

TEST(BranchSites, FunctionHandedOnUnderABranch) {
  const std::string text = R"(
var total int
var hook void(*)(int*)
fn loud(p)
B1 -> B0
  W p*
fn ring()
B1 -> B0
  pcall hook(&total)
fn arrange(hour)
B3 -> B2 T, B1 F
  #c text hour 22
B2 -> B1
  cb loud(); W hook
B1 -> B0
  text end
)";
  const ImpactCase change(text, edit(text, {{"text hour 22", "text hour 6"}}));
  EXPECT_THAT(change.impacted(), Contains("loud W ?"));
  bool from_the_call = false;
  for (const SharedAccess& access : change.impact.accesses)
    if (change.line(access) == "loud W ?")
      for (const BlockId& block : change.blocks(access))
        from_the_call = from_the_call || change.before.name_of(block.function) == "ring";
  EXPECT_TRUE(from_the_call);
}

const std::string kStatic = R"(
var seed int
var slot int
var mu std::mutex mutex
fn load()
B1 -> B0
  R seed
fn rate()
B3 -> B2 T, B1 F
  text first
B2 -> B1
  call load(); static slot
B1 -> B0
  R slot
fn twice()
B1 -> B0
  R seed
fn reseed()
B1 -> B0
  lock mu
  W seed
  unlock mu
)";

TEST(BranchSites, StaticIsInitialisedByWhoeverComesFirst) {
  const ImpactCase change(kStatic, edit(kStatic, {{"  lock mu\n", ""}, {"  unlock mu\n", ""}}));
  EXPECT_THAT(sites_of(change, "seed"), IsSupersetOf({"load:1", "rate:3", "twice:1", "reseed:1"}));
}

// An ordinary branch that nothing affects credits nobody.
TEST(BranchSites, UnaffectedBranch) {
  const std::string text = edit(kStatic, {{"call load(); static slot", "call load()"}});
  const ImpactCase change(text, edit(text, {{"  lock mu\n", ""}, {"  unlock mu\n", ""}}));
  EXPECT_THAT(sites_of(change, "seed"), Not(Contains("rate:3")));
}

}  // namespace
}  // namespace simrt::impact
