// Rule 2, calls: one change per C++ reading; what must be impacted, why, and what must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact/change_context.h"
#include "impact_case.h"
#include "rule_programs.h"

namespace simrt::impact {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(CallRule, ThreadEntryChanged) {
  const ImpactCase change(kWorker, edit(kWorker, {{"#s spawn Worker::Run(", "#s spawn Worker::RunTwice("}}));
  EXPECT_EQ(change.rule("Worker::RunTwice W Worker::result_"), ImpactRule::CallChanged);
  // No recorded test has run RunTwice, so its own block cannot select any; the new thread is started in
  // Start.
  bool on_new_thread = false;
  for (const SharedAccess& access : change.impact.accesses)
    if (change.line(access) == "Worker::RunTwice W Worker::result_" && access.block == BlockId{})
      on_new_thread = access.site_role == SiteRole::StartedBehind &&
                      change.blocks(access) == std::set<BlockId>{{function_id("Worker::Start"), 1}};
  EXPECT_TRUE(on_new_thread);
  EXPECT_THAT(change.pairs(),
              Contains("Worker::Result R Worker::result_ ~ Worker::RunTwice W Worker::result_"));
}

TEST(CallRule, AddedCallReachesCalleesOfCallees) {
  const std::string text =
      edit(kPlain, {{"fn Log(n)\nB1 -> B0\n  W log_size\n",
                     "fn Log(n)\nB1 -> B0\n  call Grow()\nfn Grow()\nB1 -> B0\n  W log_size\n"}});
  const ImpactCase change(
      text, edit(text, {{"fn S::Get()\nB1 -> B0\n", "fn S::Get()\nB1 -> B0\n  call Log(0)\n"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("Grow W log_size"));
  EXPECT_EQ(change.cause("Grow W log_size"), "call of Log added");
}

TEST(CallRule, AddedCallAlsoMapsItsCalleesToTheCallSite) {
  const ImpactCase change(
      kPlain, edit(kPlain, {{"fn S::Get()\nB1 -> B0\n", "fn S::Get()\nB1 -> B0\n  call Log(0)\n"}}));
  std::set<BlockId> blocks;
  for (const SharedAccess& access : change.impact.accesses) blocks.insert(access.block);
  EXPECT_TRUE(blocks.contains(BlockId{function_id("Log"), 1}));
  EXPECT_TRUE(blocks.contains(BlockId{function_id("S::Get"), 1}));
}

TEST(CallRule, VirtualCallReachesOverridersAndANewOne) {
  const std::string text = R"(
var Sink::size int
var total int
fn Sink::Write()
B1 -> B0
  text base
fn FileSink::Write() overrides=Sink::Write
B1 -> B0
  W this.Sink::size
fn Tally()
B1 -> B0
  W total
fn flush(sink)
B1 -> B0
  #f text flush
)";
  const ImpactCase called(text, edit(text, {{"#f text flush", "#f vcall Sink::Write() on sink"}}));
  EXPECT_EQ(called.rule("FileSink::Write W Sink::size"), ImpactRule::CallChanged);
  const std::string calling = edit(text, {{"#f text flush", "#f vcall Sink::Write() on sink"}});
  const ImpactCase overrider(
      calling,
      calling + "fn NetSink::Write() overrides=Sink::Write\nB1 -> B0\n  W this.Sink::size\n  call Tally()\n");
  EXPECT_EQ(overrider.rule("NetSink::Write W Sink::size"), ImpactRule::AccessChanged);
  EXPECT_EQ(overrider.rule("Tally W total"), ImpactRule::CallChanged);
  EXPECT_EQ(overrider.find("NetSink::Write W Sink::size")->mapped_function, function_id("flush"));
}

TEST(CallRule, OverriderRemovedBringsTheBaseBack) {
  const std::string text = R"(
var Sink::size int
fn Sink::Write()
B1 -> B0
  W this.Sink::size
)";
  const ImpactCase change(text + "fn FileSink::Write() overrides=Sink::Write\nB1 -> B0\n  text nothing\n",
                          text);
  EXPECT_EQ(change.cause("Sink::Write W Sink::size"), "overrider FileSink::Write removed");
}

TEST(CallRule, CallThroughAPointerReachesWhatIsHandedOn) {
  const std::string text = R"(
var total int
fn add(x)
B1 -> B0
  W total
fn setup()
B1 -> B0
  cb add(); call Register(0)
fn run(f)
B1 -> B0
  #r text run
)";
  const ImpactCase change(text, edit(text, {{"#r text run", "#r icall f(0)"}}));
  EXPECT_EQ(change.rule("add W total"), ImpactRule::CallChanged);
}

TEST(CallRule, UnrelatedNewFunctionImpactsNothing) {
  const ImpactCase change(kPlain, kPlain + "fn Unused()\nB1 -> B0\n  W log_size\n  call Log(0)\n");
  EXPECT_THAT(change.impact.accesses, IsEmpty());
}

TEST(CallRule, RemovedFunctionImpactsNothing) {
  const ImpactCase change(kPlain + "fn Unused()\nB1 -> B0\n  W log_size\n", kPlain);
  EXPECT_THAT(change.impact.accesses, IsEmpty());
}

TEST(CallRule, TestCodeIsNoCause) {
  const std::string text = kPlain + "fn TEST_Log() file=log_test.cc\nB1 -> B0\n  text setup\n";
  const std::string changed = edit(text, {{"  text setup\n", "  text setup\n  call Log(0)\n"}});
  EXPECT_EQ(ImpactCase(text, changed).rule("Log W log_size"), ImpactRule::CallChanged);
  ImpactOptions options;
  options.is_test_code = [](const FunctionFacts& function) { return function.file == "log_test.cc"; };
  EXPECT_THAT(ImpactCase(text, changed, options).impact.accesses, IsEmpty());
}

constexpr const char* kShapes = R"(
var mu mutex mutex
var a int
var b int
fn Shape::Shape() !ctor
B1 -> B0
  text done
fn Shape::Draw()
B1 -> B0
  text done
fn Shape::Name()
B1 -> B0
  W b
fn Safe::Safe() !ctor
B1 -> B0
  call Shape::Shape() on this
fn Safe::Draw() overrides=Shape::Draw
B1 -> B0
  lock mu
  W a
  unlock mu
fn Plain::Plain() !ctor
B1 -> B0
  call Shape::Shape() on this
fn Plain::Draw() overrides=Shape::Draw
B1 -> B0
  W a
fn Other::Name() overrides=Shape::Name
B1 -> B0
  text done
fn make()
B1 -> B0
  #m call Safe::Safe()
fn use(s)
B2 -> B1
  text s
B1 -> B0
  vcall Shape::Draw() on s
)";

TEST(CallRule, VirtualCallsReachTheMethodsOfAnotherClassConstructed) {
  const ImpactCase change(kShapes, edit(kShapes, {{"#m call Safe::Safe()", "#m call Plain::Plain()"}}));
  // Shape::Name is inherited, Shape::Draw overridden.
  EXPECT_THAT(change.impacted(), ElementsAre("Plain::Draw W a", "Shape::Name W b"));
  EXPECT_EQ(change.rule("Plain::Draw W a"), ImpactRule::CallChanged);
  bool at_the_call = false;
  for (const SharedAccess& access : change.impact.accesses)
    at_the_call = at_the_call || (change.line(access) == "Plain::Draw W a" &&
                                  change.blocks(access) == std::set<BlockId>{{function_id("use"), 1}});
  EXPECT_TRUE(at_the_call);
}

TEST(CallRule, VirtualCallsReachInheritedMethodsOfABaseConstructed) {
  const ImpactCase change(kShapes, edit(kShapes, {{"#m call Safe::Safe()", "#m call Shape::Shape()"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("Shape::Name W b"));
}

// make_unique of a class without a written constructor: nothing but a name tells what is made.
TEST(CallRule, VirtualCallsReachTheMethodsOfAClassWithoutConstructor) {
  std::string text = kShapes;
  for (const char* gone : {"fn Safe::Safe() !ctor", "fn Plain::Plain() !ctor"})
    text = edit(text, {{gone, "fn unused" + std::string(gone + 3, 4) + "()"}});
  text = edit(text, {{"#m call Safe::Safe()", "#m call Safe::Safe(); call Shape::Shape()"}});
  const ImpactCase change(text, edit(text, {{"#m call Safe::Safe()", "#m call Plain::Plain()"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("Plain::Draw W a"));
}

TEST(CallRule, VirtualCallsReachWhatAnotherFactoryMakes) {
  const std::string text =
      edit(kShapes, {{"#m call Safe::Safe()", "call Safe::Safe(); bind return := 0"}}) + R"(
var return:make Shape*
var return:make_plain Shape*
fn make_plain()
B1 -> B0
  call Plain::Plain(); bind return := 0
fn order()
B1 -> B0
  #o call make()
)";
  const ImpactCase change(text, edit(text, {{"#o call make()", "#o call make_plain()"}}));
  EXPECT_THAT(change.impacted(), Contains("Plain::Draw W a"));
  const ImpactCase same(text, edit(text, {{"#o call make()", "#o call make(0)"}}));
  EXPECT_THAT(same.impacted(), Not(Contains("Safe::Draw W a")));
}

TEST(CallRule, TheSameClassConstructedOtherwiseReachesNoOtherMethod) {
  const ImpactCase change(kShapes, edit(kShapes, {{"#m call Safe::Safe()", "#m call Safe::Safe(0)"}}));
  EXPECT_THAT(change.impacted(), IsEmpty());
}

TEST(CallRule, ClassesInAnonymousNamespacesAreTold) {
  FunctionFacts method;
  method.name = "(anonymous namespace)::Plain::Draw";
  EXPECT_EQ(class_of(method), "(anonymous namespace)::Plain");
  method.name = "ns::Box<void (int)>::run<std::string>(std::function<void (int)>)";
  EXPECT_EQ(class_of(method), "ns::Box<void (int)>");
  method.name = "f(ns::S)";
  EXPECT_EQ(class_of(method), "");
}

}  // namespace
}  // namespace simrt::impact
