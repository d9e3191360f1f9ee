#include "pipeline/recorded_commands.h"

#include <gtest/gtest.h>

namespace simrt::pipeline {
namespace {

UnitCommands commands_of(const std::string& source, const std::string& build) {
  UnitCommands commands;
  commands.by_path["a.cc"] = {
      "a.cc",
      build,
      {"c++", "-I" + source + "/include", "-isystem", build + "/generated",
       "-fmacro-prefix-map=" + source + "=.", "-I" + source + "-other", "-I../src", source + "/a.cc"}};
  commands.hashes["a.cc"] = 42;
  return commands;
}

class Places : public testing::TestWithParam<std::pair<BuildLocation, BuildLocation>> {};

TEST_P(Places, ACommandMovesWithItsDirectories) {
  const auto& [here, there] = GetParam();
  const auto stored = portable_commands(commands_of(here.source, here.build), here);
  ASSERT_EQ(stored.size(), 1U);
  const auto moved = commands_at(stored, there);
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved[0].hash, 42U);
  analysis::CompileCommand expected = commands_of(there.source, there.build).by_path.at("a.cc");
  expected.arguments[5] = "-I" + here.source + "-other";  // another directory that only begins like ours
  EXPECT_EQ(moved[0].command, expected);
  EXPECT_EQ(commands_at(stored, here)[0].command, commands_of(here.source, here.build).by_path.at("a.cc"));
}

const BuildLocation kInside{"/nowhere/p", "/nowhere/p/build"}, kOutside{"/nowhere/q", "/elsewhere/b"},
    kAtRoot{"/nowhere/r", "/nowhere/r"};

INSTANTIATE_TEST_SUITE_P(All, Places,
                         testing::Values(std::pair(kInside, kOutside), std::pair(kOutside, kInside),
                                         std::pair(kInside, kInside), std::pair(kAtRoot, kAtRoot)));

// A compile database beside the sources (`bear -- make`), and an instrumented build elsewhere.
TEST(RecordedCommands, ABuildAmongTheSourcesStaysThere) {
  const auto stored = portable_commands(commands_of(kAtRoot.source, kAtRoot.build), kAtRoot);
  const analysis::CompileCommand moved = commands_at(stored, kInside)[0].command;
  EXPECT_EQ(moved.directory, kInside.source);
  EXPECT_EQ(moved.arguments[3], kInside.source + "/generated");
}

}  // namespace
}  // namespace simrt::pipeline
