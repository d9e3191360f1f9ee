// What a once-flag runs: covered by the thread that came first, but any thread that gets there may be that
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"

namespace simrt::impact {
namespace {

using ::testing::IsSupersetOf;

const std::string kTwoCallers = R"(
var flag std::once_flag
var value int
fn init()
B1 -> B0
  W value
fn first()
B1 -> B0
  #o once flag; cb init()
fn second()
B1 -> B0
  once flag; cb init()
)";

std::vector<std::string> blocks_of_value(const ImpactCase& change) {
  std::vector<std::string> functions;
  for (const SharedAccess& access : change.impact.accesses)
    for (const BlockId& block : change.blocks(access))
      functions.push_back(change.before.name_of(block.function));
  return functions;
}

TEST(Once, CalledWithoutTheFlagByOneOfTwo) {
  const ImpactCase change(kTwoCallers, edit(kTwoCallers, {{"#o once flag; cb init()", "#o call init()"}}));
  EXPECT_THAT(blocks_of_value(change), IsSupersetOf({"init", "first", "second"}));
}

TEST(Once, AnotherFlagInOneOfTwo) {
  const ImpactCase change(kTwoCallers,
                          edit(kTwoCallers, {{"#o once flag", "#o once other"}}) + "var other int\n");
  EXPECT_THAT(blocks_of_value(change), IsSupersetOf({"init", "first", "second"}));
}

// The function behind the flag reads what another thread now writes without a lock.
TEST(Once, AsThePartnerOfAChangeElsewhere) {
  const std::string text = kTwoCallers + R"(
var mu std::mutex mutex
fn other()
B1 -> B0
  lock mu
  W value
  unlock mu
)";
  const ImpactCase change(text, edit(text, {{"  lock mu\n", ""}, {"  unlock mu\n", ""}}));
  EXPECT_THAT(blocks_of_value(change), IsSupersetOf({"other", "init", "first", "second"}));
}

}  // namespace
}  // namespace simrt::impact
