// A variable with another initial value, in all C++ readings: what depends on it, in code that did not
// change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"

namespace simrt::impact {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

/// `T variable = 1;`: the value is one element, what it leaves in the variable another one that keeps its
/// code.
std::string initialiser(const std::string& variable) {
  return "fn init_" + variable + "() !static\nB1 -> B0\n  #value text 1\n  W " + variable + "\n";
}
std::vector<std::pair<std::string, std::string>> another_value() { return {{"text 1", "text 2"}}; }

TEST(InitialValue, LimitOfABranch) {
  const std::string text = initialiser("limit") + R"(
var limit int
var total int
fn Step()
B2 -> B1 T, B0 F
  R total; R limit
B1 -> B0
  W total
)";
  const ImpactCase change(text, edit(text, another_value()));
  EXPECT_THAT(change.impacted(), Contains("Step W total"));
  EXPECT_FALSE(change.impact.origins.has_value());
}

TEST(InitialValue, WhetherALockIsTaken) {
  const std::string text = initialiser("locked") + R"(
var locked bool
var mu std::mutex mutex
var total int
var other int
fn Step()
B5 -> B4 T, B3 F
  R locked
B4 -> B3
  lock mu
B3 -> B2 T, B1 F
  W total
  R locked
B2 -> B1
  unlock mu
B1 -> B0
  text end
fn Other()
B1 -> B0
  lock mu
  W other
  unlock mu
)";
  const ImpactCase change(text, edit(text, another_value()));
  EXPECT_THAT(change.impacted(), Contains("Step W total"));
  EXPECT_THAT(change.impacted(), Not(Contains("Other W other")));
}

TEST(InitialValue, WhetherAGuardLocks) {
  const std::string text = initialiser("locked") + R"(
var locked bool
var mu std::mutex mutex
var total int
fn Step() g
B3 -> B2 T, B1 F
  defer g mu; def g
  R locked
B2 -> B1
  gacq g; use g
B1 -> B0
  W total
  grel g; use g
)";
  const ImpactCase change(text, edit(text, another_value()));
  EXPECT_THAT(change.impacted(), Contains("Step W total"));
}

// The lock that the caller holds is back whatever the condition: what follows is protected as before.
TEST(InitialValue, WhetherTheCallersLockIsLent) {
  const std::string text = initialiser("busy") + R"(
var busy bool
var mu std::mutex mutex
var total int
fn Step()
B3 -> B2 T, B1 F
  R busy
B2 -> B1
  unlock mu
  lock mu
B1 -> B0
  W total
fn Run()
B1 -> B0
  lock mu
  call Step()
  W total
  unlock mu
)";
  const ImpactCase change(text, edit(text, another_value()));
  EXPECT_THAT(change.impacted(), ElementsAre("Step R busy"));
}

TEST(InitialValue, ConditionalLockInAWrapper) {
  const std::string text = initialiser("locked") + R"(
var locked bool
var mu std::mutex mutex
var total int
var outside int
fn Lock()
B3 -> B2 T, B1 F
  R locked
B2 -> B1
  lock mu
B1 -> B0
  text end
fn Step()
B1 -> B0
  call Lock()
  W total
  unlock mu
  W outside
)";
  const ImpactCase change(text, edit(text, another_value()));
  EXPECT_THAT(change.impacted(), Contains("Step W total"));
  EXPECT_THAT(change.impacted(), Not(Contains("Step W outside")));
}

TEST(InitialValue, PointerToTheLock) {
  const std::string text = R"(
var a std::mutex mutex
var b std::mutex mutex
var p std::mutex*
var total int
var outside int
fn init_p() !static
B1 -> B0
  bind p := &a; W p
fn Step() g
B1 -> B0
  R p; guard g p*; def g
  W total
  grel g; use g
  W outside
)";
  const ImpactCase change(text, edit(text, {{"bind p := &a", "bind p := &b"}}));
  EXPECT_THAT(change.impacted(), Contains("Step W total"));
  EXPECT_THAT(change.impacted(), Not(Contains("Step W outside")));
}

TEST(InitialValue, PointerToTheData) {
  const std::string text = R"(
var v int
var w int
var r int*
fn init_r() !static
B1 -> B0
  #r bind r := &w; W r
fn Step()
B1 -> B0
  R r; W r*
fn Other()
B1 -> B0
  W v
)";
  const ImpactCase change(text, edit(text, {{"bind r := &w", "bind r := &v"}}));
  EXPECT_THAT(change.pairs(), Contains("Other W v ~ Step W r"));
}

TEST(InitialValue, CountOfASemaphore) {
  const std::string text = initialiser("slots") + R"(
var slots std::counting_semaphore<4>
var total int
fn Step()
B1 -> B0
  semacq slots
  W total
  semrel slots
)";
  const ImpactCase change(text, edit(text, another_value()));
  EXPECT_THAT(change.impacted(), Contains("Step W total"));
  EXPECT_EQ(change.cause("Step W total"), "initial value of slots altered");
}

TEST(InitialValue, CountOfALatchAndABarrier) {
  for (const char* wait : {"latch", "barrier"}) {
    const std::string text = initialiser("gate") + R"(
var gate Gate
var total int
fn Step()
B1 -> B0
  )" + wait + R"( gate
  W total
)";
    const ImpactCase change(text, edit(text, another_value()));
    EXPECT_THAT(change.impacted(), ElementsAre("Step W total"));
  }
}

TEST(InitialValue, CountOfAnInitialisedSemaphore) {
  const std::string text = R"(
var slots sem_t
var total int
fn Start()
B1 -> B0
  #i bind slots := 0; text 1
fn Step()
B1 -> B0
  semacq slots
  W total
)";
  const ImpactCase change(text, edit(text, {{"text 1", "text 2"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("Step W total"));
}

TEST(InitialValue, KindOfALock) {
  const std::string text = R"(
var mu pthread_mutex_t mutex
var other pthread_mutex_t mutex
var total int
var outside int
fn Start()
B1 -> B0
  #i bind mu := 0; text 1
fn Step()
B1 -> B0
  lock mu
  W total
  unlock mu
  lock other
  W outside
  unlock other
)";
  const ImpactCase change(text, edit(text, {{"text 1", "text 2"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("Step W total"));
  EXPECT_EQ(change.cause("Step W total"), "initial value of mu altered");
}

// A member, counted by a constructor that is not written.
TEST(InitialValue, CountOfAMember) {
  const std::string text = R"(
var Gate::slots std::counting_semaphore<4>
var Gate::visits int
fn Gate::Gate() !ctor
B1 -> B0
  #i bind this.Gate::slots := 0; text 1
fn Gate::Visit()
B1 -> B0
  semacq this.Gate::slots
  W this.Gate::visits
fn Gate::Name()
B1 -> B0
  R this.Gate::visits
)";
  const ImpactCase change(text, edit(text, {{"text 1", "text 2"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("Gate::Visit W Gate::visits"));
}

TEST(InitialValue, CountByAnAffectedValue) {
  const std::string text = R"(
var slots sem_t
var total int
fn Start(width)
B1 -> B0
  bind slots := 0; use width
fn Main() %v
B1 -> B0
  #n text 1; def %v
  call Start(0); use %v
fn Step()
B1 -> B0
  semacq slots
  W total
)";
  const ImpactCase change(text, edit(text, {{"text 1", "text 2"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("Step W total"));
}

TEST(InitialValue, FunctionInATable) {
  const std::string text = R"(
var Ops::add void(*)(int*)
var total int
fn locked(p)
B1 -> B0
  W p*
fn plain(p)
B1 -> B0
  W p*
fn init_ops() !static
B1 -> B0
  #o cb locked(); W ops.Ops::add const
fn init_others() !static
B1 -> B0
  cb plain(); W others.Ops::add const
fn Step()
B1 -> B0
  R ops.Ops::add const; pcall add(&total) on ops.Ops::add
)";
  const ImpactCase change(text, edit(text, {{"#o cb locked()", "#o cb plain()"}}));
  EXPECT_THAT(change.impacted(), Contains("plain W ?"));
}

TEST(InitialValue, DefaultMemberInitialiser) {
  const std::string text = R"(
var Config::locked bool
var Config::size int
var mu std::mutex mutex
var total int
fn init_config() !static
B1 -> B0
  call Config::Config() on &config
fn Config::Config() %v !ctor
B1 -> B0
  #l text true; def %v
  W this.Config::locked own; use %v
  W this.Config::size own
fn Step()
B3 -> B2 T, B1 F
  R config.Config::locked
B2 -> B1
  lock mu
B1 -> B0
  W total
fn Other()
B2 -> B1 T, B0 F
  R config.Config::size
B1 -> B0
  W total
)";
  const ImpactCase change(text, edit(text, {{"text true", "text false"}}));
  EXPECT_THAT(change.impacted(), Contains("Step W total"));
  EXPECT_THAT(change.impacted(), Not(Contains("Other W total")));
  EXPECT_FALSE(change.impact.origins.has_value());  // the compiler may have run the constructor
}

TEST(InitialValue, ComputedByAFunctionThatChanged) {
  const std::string text = R"(
var limit int
var total int
fn compute()
B1 -> B0
  #r bind return := limit; text 1
fn init_limit() !static
B1 -> B0
  call compute(); bind limit := return:compute; W limit
fn Step()
B2 -> B1 T, B0 F
  R limit
B1 -> B0
  W total
)";
  const ImpactCase change(text, edit(text, another_value()));
  EXPECT_THAT(change.impacted(), Contains("Step W total"));
}

TEST(InitialValue, AnUnchangedInitialiserAsksForNothing) {
  const std::string text = initialiser("limit") + initialiser("other") + R"(
var limit int
var other int
var total int
fn Step()
B2 -> B1 T, B0 F
  R other
B1 -> B0
  W total
)";
  const ImpactCase change(text, edit(text, another_value()));
  EXPECT_THAT(change.pairs(), IsEmpty());
}

}  // namespace
}  // namespace simrt::impact
