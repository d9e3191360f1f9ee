// Two executions under one schedule compared, and what they read named.
#include "pipeline/explore/nondeterminism.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/execution/inputs.h"

namespace simrt::pipeline {
namespace {

using format::Input;
using ::testing::HasSubstr;
using ::testing::Not;

Observed observed(const std::vector<std::uint64_t>& pcs) {
  Observed seen;
  for (const std::uint64_t pc : pcs) {
    format::RunEvent event{};
    event.pc = pc;
    event.object = 64;
    seen.result.execution.events.push_back(event);
  }
  return seen;
}

void reads(Observed& seen, Input kind, const std::string& name, std::uint32_t events,
           bool before_execution = false) {
  testing::ExecutionInput input;
  input.kind = kind;
  input.name = name;
  input.events = events;
  input.before_execution = before_execution;
  seen.result.execution.inputs.push_back(input);
}

TEST(Difference, NothingIsSaidOfWhatHadNoEffect) {
  Symbols symbols(".", nullptr);
  Observed one = observed({1, 2}), again = observed({1, 2});
  reads(one, Input::ProcessNumber, "getpid", 0);
  reads(again, Input::ProcessNumber, "getpid", 0);
  EXPECT_FALSE(difference(one, again, symbols));
}

TEST(Difference, OnlyWhatWasReadBeforeItCanDecide) {
  Symbols symbols(".", nullptr);
  Observed one = observed({1, 2, 3, 4}), again = observed({1, 2, 9, 4});
  reads(one, Input::ProcessNumber, "getpid", 2);
  reads(one, Input::SystemState, "/proc/self/stat", 3);
  reads(again, Input::RandomNumber, "getrandom", 1);
  reads(again, Input::ProcessNumber, "gettid", 0);
  const auto found = difference(one, again, symbols);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->differs, "events");
  EXPECT_EQ(found->event, 3U);
  EXPECT_EQ(to_string(found->inputs), "random number (getrandom), process number (getpid)");
  EXPECT_THAT(to_string(*found), HasSubstr("not deterministic: under the same schedule two executions differ "
                                           "from event 3 on; what the program read"));
}

TEST(Difference, WhatTheStartBroughtIsTheSameForBoth) {
  Symbols symbols(".", nullptr);
  Observed one = observed({1}), again = observed({2});
  reads(one, Input::ProcessNumber, "getpid", 0, true);
  reads(one, Input::TemporaryDirectory, "TMPDIR", 0);
  const auto found = difference(one, again, symbols);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->inputs.empty());
  EXPECT_THAT(to_string(*found), HasSubstr("it is not known what decides there"));
  const auto of_two_starts = inputs_of({&one.result.execution}, {}, &symbols);
  EXPECT_EQ(to_string(of_two_starts), "process number (getpid), directory of temporary files (TMPDIR)");
}

TEST(Difference, AddressesAndOutputAreCompared) {
  Symbols symbols(".", nullptr);
  Observed one = observed({1, 2}), again = observed({1, 2});
  reads(again, Input::Addresses, "address-space layout", 0);
  again.output = "other";
  auto found = difference(one, again, symbols);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->differs, "output");
  EXPECT_EQ(found->event, 0U);
  EXPECT_THAT(to_string(*found), HasSubstr("print different output; what the program read and is not "
                                           "controlled: random addresses (address-space layout)"));
  again.result.execution.events[1].object = 128;
  found = difference(one, again, symbols);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->differs, "addresses");
  EXPECT_THAT(to_string(*found), HasSubstr("addresses differ"));
  EXPECT_THAT(to_string(*found), Not(HasSubstr("not deterministic")));
}

}  // namespace
}  // namespace simrt::pipeline
