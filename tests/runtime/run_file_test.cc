// The reader of run files refuses, or reads up to the damage; it never trusts a length.
#include "testing/run_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "controlled_run.h"

namespace simrt::testing {
namespace {

std::vector<std::byte> recorded_file() {
  // What a real execution leaves, by way of the file that the program maps.
  CheckOptions options;
  options.command = {std::string(SIMRT_PROGRAMS "/controlled-") + controlled_builds().front(), "deadlock"};
  options.run_directory = ::testing::TempDir();
  options.run_bytes = 1 << 20;
  options.plan_bytes = 4096;
  auto program = CheckProgram::create(options);
  EXPECT_TRUE(program);
  CheckPlan plan;
  plan.flags = format::kPlanRecordEvents;
  plan.strategy = format::StrategyKind::Random;
  EXPECT_EQ(run(*program, plan).end, CheckEnd::Deadlock);
  const auto bytes = program->run_file_bytes();
  return {bytes.begin(), bytes.end()};
}

TEST(RunFileReader, ReadsBackWhatWasWritten) {
  const auto bytes = recorded_file();
  const auto execution = read_execution(bytes);
  ASSERT_TRUE(execution);
  EXPECT_EQ(execution->state, format::RunState::Deadlock);
  EXPECT_EQ(execution->waits.size(), 2U);
  EXPECT_FALSE(execution->events.empty());
  EXPECT_TRUE(execution->notes.empty()) << execution->notes.front();
}

TEST(RunFileReader, RefusesWhatIsNone) {
  auto bytes = recorded_file();
  EXPECT_FALSE(read_execution({}));
  EXPECT_FALSE(read_execution({bytes.data(), 100}));
  auto other = bytes;
  other[0] = std::byte{'x'};
  EXPECT_FALSE(read_execution(other));
  other = bytes;
  other[8] = std::byte{99};  // version
  EXPECT_FALSE(read_execution(other));
}

TEST(RunFileReader, SurvivesAnyDamage) {
  const auto bytes = recorded_file();
  std::mt19937 random(1);
  format::RunHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::size_t noticed = 0;
  for (int round = 0; round < 3000; ++round) {
    auto damaged = bytes;
    for (int i = 0; i < 4; ++i) {
      const bool in_header = random() % 4 == 0;
      const std::size_t at = in_header
                                 ? random() % sizeof header
                                 : header.output_offset + random() % (header.used - header.output_offset);
      damaged[at] = static_cast<std::byte>(random());
    }
    if (random() % 4 == 0) damaged.resize(random() % damaged.size());
    const auto execution = read_execution(damaged);
    noticed += !execution || !execution->notes.empty() ? 1 : 0;
  }
  EXPECT_GT(noticed, 100U);
}

TEST(RunFileReader, APlanThatDoesNotFitIsRefused) {
  auto file = RunFile::create(::testing::TempDir(), 1 << 20, 4096);
  ASSERT_TRUE(file);
  CheckPlan plan;
  EXPECT_TRUE(file->write(plan));
  EXPECT_TRUE(file->has_room_for(plan));
  plan.watched.resize(1000);
  EXPECT_FALSE(file->has_room_for(plan));
  EXPECT_FALSE(file->write(plan));
}

TEST(RunFileReader, AProgramGoesOnBehindAPlanThatDoesNotFit) {
  CheckOptions options;
  options.command = {std::string(SIMRT_PROGRAMS "/controlled-") + controlled_builds().front(), "nosuchbug"};
  options.plan_bytes = 4096;
  auto program = CheckProgram::create(options);
  ASSERT_TRUE(program);
  CheckPlan plan;
  EXPECT_EQ(run(*program, plan).end, CheckEnd::Finished);
  plan.schedule.resize(1000);
  EXPECT_EQ(run(*program, plan).end, CheckEnd::PlanTooLong);
  plan.schedule.clear();
  EXPECT_EQ(run(*program, plan).end, CheckEnd::Finished);
}

}  // namespace
}  // namespace simrt::testing
