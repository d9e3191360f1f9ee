// Lambdas that capture another variable by reference: their own code, and its hash, stay as they were.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"

namespace simrt::impact {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

const std::string kOuter = R"(
var mu std::mutex mutex
fn outer() a! b! m! n!
B1 -> B0
  def a
  def b
  #x text first a; use a
  #y text second b; use b
fn outer::one() !lambda in=outer
B1 -> B0
  text ++x | R local:outer:0; W local:outer:0
fn outer::two() !lambda in=outer
B1 -> B0
  text ++x | R local:outer:1; W local:outer:1
)";

TEST(Captures, AnotherVariable) {
  const ImpactCase change(
      kOuter, edit(kOuter, {{"#y text second b; use b", "#y text second a; use a"},
                            {"R local:outer:1; W local:outer:1", "R local:outer:0; W local:outer:0"}}));
  EXPECT_THAT(change.impacted(), Contains("outer::two W ?"));
  EXPECT_THAT(change.pairs(), Contains("outer::one W ? ~ outer::two W ?"));
}

TEST(Captures, AnotherNumberIsTheSameVariable) {
  const ImpactCase change(
      kOuter, edit(kOuter, {{"fn outer() a! b! m! n!", "fn outer() z a! b! m! n!"},
                            {"#x text first a; use a", "#x text first z; use a; def z"},
                            {"R local:outer:1; W local:outer:1", "R local:outer:2; W local:outer:2"},
                            {"R local:outer:0; W local:outer:0", "R local:outer:1; W local:outer:1"}}));
  EXPECT_THAT(change.impacted(), IsEmpty());
}

TEST(Captures, AnotherLock) {
  const std::string text = R"(
var total int
fn outer() a! b!
B1 -> B0
  def a
  def b
  #x text capture a; use a
fn outer::one() !lambda in=outer
B1 -> B0
  text lock | lock local:outer:0
  W total
  text unlock | unlock local:outer:0
)";
  const ImpactCase change(text, edit(text, {{"text capture a; use a", "text capture b; use b"},
                                            {"| lock local:outer:0", "| lock local:outer:1"},
                                            {"| unlock local:outer:0", "| unlock local:outer:1"}}));
  EXPECT_THAT(change.impacted(), Contains("outer::one W total"));
}

}  // namespace
}  // namespace simrt::impact
