// Locks taken in another order: no access tells, the acquisitions themselves are the pair to cover.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"

namespace simrt::impact {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kTwo = R"(
var a std::mutex mutex
var b std::mutex mutex
fn load()
B1 -> B0
  lock a
  lock b
  text load
  unlock b
  unlock a
fn unload()
B1 -> B0
  #x lock a
  #y lock b
  text unload
  unlock b
  unlock a
)";

TEST(LockOrder, Inverted) {
  const ImpactCase change(kTwo, edit(kTwo, {{"#x lock a", "#x lock b"}, {"#y lock b", "#y lock a"}}));
  EXPECT_THAT(change.pairs(), Contains("load W b ~ unload W a"));
  EXPECT_THAT(change.cause("unload W a"), HasSubstr("a is now taken while b is held"));
}

TEST(LockOrder, NestedAsEverywhereElse) {
  const std::string text =
      edit(kTwo, {{"  #y lock b\n", ""}, {"text unload\n  unlock b\n", "text unload\n"}});
  const ImpactCase change(text, kTwo);
  EXPECT_THAT(change.pairs(), IsEmpty());
}

TEST(LockOrder, ThroughACall) {
  const std::string text = R"(
var a std::mutex mutex
var b std::mutex mutex
fn load()
B1 -> B0
  lock a
  lock b
  unlock b
  unlock a
fn take()
B1 -> B0
  #t lock b
  text taken
  #u unlock b
fn unload()
B1 -> B0
  lock b
  call take()
  unlock b
)";
  const ImpactCase change(text, edit(text, {{"#t lock b", "#t lock a"}, {"#u unlock b", "#u unlock a"}}));
  EXPECT_THAT(change.pairs(), Contains("load W b ~ unload W a"));
}

// Of three locks, each pair in one order: only together they close a circle.
TEST(LockOrder, CircleOfThree) {
  const std::string text = R"(
var a std::mutex mutex
var b std::mutex mutex
var c std::mutex mutex
fn one()
B1 -> B0
  lock a
  lock b
  unlock b
  unlock a
fn two()
B1 -> B0
  lock b
  lock c
  unlock c
  unlock b
fn three()
B1 -> B0
  #x lock a
  #y lock c
  unlock c
  unlock a
)";
  const ImpactCase change(text, edit(text, {{"#x lock a", "#x lock c"}, {"#y lock c", "#y lock a"}}));
  EXPECT_THAT(change.pairs(), Contains("one W b ~ three W a"));
  EXPECT_THAT(change.pairs(), Contains("three W a ~ two W c"));
}

TEST(LockOrder, TogetherIsNoOrder) {
  const std::string text = edit(kTwo, {{"  #x lock a\n  #y lock b\n", "  #x lock a b\n"}});
  const ImpactCase change(text, edit(text, {{"#x lock a b", "#x lock b a"}}));
  EXPECT_THAT(change.pairs(), IsEmpty());
}

}  // namespace
}  // namespace simrt::impact
