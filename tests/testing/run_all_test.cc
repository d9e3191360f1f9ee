#include "testing/run_all.h"

#include <gmock/gmock.h>

#include <map>
#include <thread>

#include "sample_programs.h"
#include "support/files.h"

namespace simrt::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

struct Collected {
  std::vector<std::string> order;
  std::map<std::string, RunResult> results;
};

RunFinished collector(Collected& into) {
  return [&into, caller = std::this_thread::get_id()](const TestCase& test,
                                                      const Result<RunResult>& result) -> Status {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_TRUE(result);
    into.order.push_back(test.name);
    into.results[test.name] = *result;
    return {};
  };
}

TEST(RunAll, EachOnceWithItsOwnResult) {
  std::vector<TestCase> tests;
  for (int i = 0; i < 20; ++i)
    tests.push_back(plain_test("t" + std::to_string(i), {"exit", std::to_string(i % 3)}));
  Collected collected;
  RunAllOptions options;
  options.jobs = 4;
  ASSERT_TRUE(run_all(tests, options, collector(collected)));
  EXPECT_EQ(collected.order.size(), 20U);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(collected.results.at("t" + std::to_string(i)).exit_code, i % 3);
}

TEST(RunAll, OneJobKeepsTheOrder) {
  Collected collected;
  RunAllOptions options;
  const std::vector<TestCase> tests = {plain_test("c", {"sleep-ms", "20"}), plain_test("a", {}),
                                       plain_test("b", {})};
  ASSERT_TRUE(run_all(tests, options, collector(collected)));
  EXPECT_THAT(collected.order, ElementsAre("c", "a", "b"));
}

TEST(RunAll, ResultsComeAsTestsEnd) {
  Collected collected;
  RunAllOptions options;
  options.jobs = 2;
  const std::vector<TestCase> tests = {plain_test("slow", {"sleep-ms", "1500"}), plain_test("fast", {})};
  ASSERT_TRUE(run_all(tests, options, collector(collected)));
  EXPECT_THAT(collected.order, ElementsAre("fast", "slow"));
}

TEST(RunAll, NoTests) {
  Collected collected;
  EXPECT_TRUE(run_all({}, {}, collector(collected)));
  EXPECT_THAT(collected.order, ElementsAre());
}

TEST(RunAll, ResourceLocksReallyExclude) {
  const TemporaryDirectory directory = TemporaryDirectory::create().value();
  const std::string token = directory.file("token");
  ASSERT_TRUE(make_directories(token));
  std::vector<TestCase> tests;
  for (int i = 0; i < 8; ++i) {
    tests.push_back(plain_test("t" + std::to_string(i), {"exclusive", token}));
    tests.back().rules.resource_locks = {"token"};
  }
  Collected collected;
  RunAllOptions options;
  options.jobs = 4;
  ASSERT_TRUE(run_all(tests, options, collector(collected)));
  for (const auto& [name, result] : collected.results) EXPECT_EQ(result.outcome, Outcome::Passed) << name;
  EXPECT_EQ(read_file(token + ".done").value(), "xxxxxxxx");
}

TEST(RunAll, WithoutItsFixtureATestDoesNotRun) {
  std::vector<TestCase> tests = {plain_test("user", {}), plain_test("setup", {"exit", "1"}),
                                 plain_test("other", {})};
  tests[0].rules.fixtures_required = {"db"};
  tests[1].rules.fixtures_setup = {"db"};
  Collected collected;
  RunAllOptions options;
  options.jobs = 2;
  ASSERT_TRUE(run_all(tests, options, collector(collected)));
  EXPECT_EQ(collected.results.at("setup").outcome, Outcome::Failed);
  EXPECT_EQ(collected.results.at("user").outcome, Outcome::NotRun);
  EXPECT_THAT(collected.results.at("user").notes, ElementsAre("the set-up of its fixture db did not pass"));
  EXPECT_EQ(collected.results.at("other").outcome, Outcome::Passed);
}

TEST(RunAll, InterruptStopsRunningTestsAndStartsNoOthers) {
  InterruptToken token;
  std::vector<TestCase> tests = {plain_test("fast", {}), plain_test("hang 1", {"hang"}),
                                 plain_test("hang 2", {"hang"}), plain_test("never", {})};
  Collected collected;
  RunAllOptions options;
  options.jobs = 2;
  const auto collect = collector(collected);
  const Status status = run_all(
      tests, options,
      [&](const TestCase& test, const Result<RunResult>& result) {
        if (test.name == "fast") token.request();
        return collect(test, result);
      },
      &token);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Interrupted);
  EXPECT_FALSE(collected.results.at("fast").interrupted);
  EXPECT_FALSE(collected.results.contains("never"));
  for (const auto& [name, result] : collected.results) EXPECT_EQ(result.interrupted, name != "fast") << name;
}

TEST(RunAll, AFailingCallbackEndsTheRun) {
  std::vector<TestCase> tests;
  for (int i = 0; i < 50; ++i) tests.push_back(plain_test("t" + std::to_string(i), {"sleep-ms", "10"}));
  int calls = 0;
  RunAllOptions options;
  options.jobs = 2;
  const Status status = run_all(tests, options, [&](const TestCase&, const Result<RunResult>&) -> Status {
    ++calls;
    return fail(ErrorCode::Storage, "disk full");
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Storage);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace simrt::testing
