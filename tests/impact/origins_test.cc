// Which functions of p an execution has to enter for the change to matter to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"
#include "rule_programs.h"

namespace simrt::impact {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

std::vector<std::string> names(const std::vector<FunctionId>& functions, const Program& program) {
  std::vector<std::string> result;
  for (FunctionId id : functions) result.push_back(program.name_of(id));
  return result;
}

std::vector<std::string> origins(const ImpactCase& change) {
  if (!change.impact.origins) return {"(not known)"};
  return names(*change.impact.origins, change.before);
}

TEST(Origins, AreTheChangedFunctionsAlone) {
  const ImpactCase change(kCounter,
                          edit(kCounter, {{"  guard g this.Counter::mu_\n", ""}, {"  grel g\n", ""}}));
  EXPECT_THAT(origins(change), UnorderedElementsAre("Counter::Add"));
}

TEST(Origins, ACallerThatNamesANewFunctionIsChangedItself) {
  const ImpactCase change(
      kCounter,
      edit(kCounter, {{"fn Counter::Get() g\nB1 -> B0\n", "fn Counter::Get() g\nB1 -> B0\n  call New()\n"}}) +
          "fn New()\nB1 -> B0\n  W Counter::value_\n");
  EXPECT_THAT(origins(change), UnorderedElementsAre("Counter::Get"));
}

const std::string kSinks = R"(
var Sink::size int
fn Sink::Write()
B1 -> B0
  W this.Sink::size
fn flush(sink)
B1 -> B0
  vcall Sink::Write() on sink
fn other()
B1 -> B0
  R Sink::size
)";
const std::string kNetSink = "fn NetSink::Write() overrides=Sink::Write\nB1 -> B0\n  W this.Sink::size\n";

TEST(Origins, UnchangedCallersOfAMethodReachANewOverride) {
  EXPECT_THAT(origins(ImpactCase(kSinks, kSinks + kNetSink)), UnorderedElementsAre("flush"));
}

TEST(Origins, ARemovedOverrideRanInTheRecordedVersion) {
  EXPECT_THAT(origins(ImpactCase(kSinks + kNetSink, kSinks)), UnorderedElementsAre("NetSink::Write"));
}

// The compiler runs a constructor with constants where it can, and calls it elsewhere: entering it proves
// nothing.
TEST(Origins, CallersOfAConstructor) {
  const std::string text = R"(
var T::locked bool
var total int
fn T::T() !ctor
B1 -> B0
  #l W this.T::locked own; text true
fn make()
B1 -> B0
  call T::T() on 0
  W total
fn outer()
B1 -> B0
  call make()
fn use()
B2 -> B1 T, B0 F
  R T::locked
B1 -> B0
  W total
)";
  EXPECT_THAT(origins(ImpactCase(text, edit(text, {{"text true", "text false"}}))),
              UnorderedElementsAre("T::T", "make"));
}

TEST(Origins, NotKnownWhereMoreThanCodeChanges) {
  const std::string atomic =
      edit(kHandoff, {{"Handoff::ready_ std::atomic<bool> atomic", "Handoff::ready_ bool"}});
  EXPECT_THAT(origins(ImpactCase(kHandoff, atomic)), UnorderedElementsAre("(not known)"));
}

TEST(Origins, NotKnownWhereCodeOutsideCallsTheNewOne) {
  const std::string text = kSinks + "fn T::T() !ctor\nB1 -> B0\n  text nothing\n";
  const ImpactCase change(text, text + "fn T::Run() overrides=ext::Base::Run\nB1 -> B0\n  W Sink::size\n");
  if (!change.impact.accesses.empty()) {
    EXPECT_THAT(origins(change), UnorderedElementsAre("(not known)"));
  }
}

}  // namespace
}  // namespace simrt::impact
