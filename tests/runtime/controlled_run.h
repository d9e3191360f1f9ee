// Runs one case of programs/controlled.cc, or of another program of its kind, under a plan.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "testing/check_program.h"

namespace simrt::testing {

inline std::vector<std::string> controlled_builds() {
  std::vector<std::string> result;
  std::stringstream variants(SIMRT_VARIANTS);
  for (std::string variant; std::getline(variants, variant, ',');)
    for (const char* level : {"O0", "O2"}) result.push_back(variant + "-" + level);
  return result;
}

inline CheckProgram program_of(const std::string& source, const std::string& build, const std::string& name,
                               bool fork_server = true, double timeout = 60) {
  CheckOptions options;
  options.command = {SIMRT_PROGRAMS "/" + source + "-" + build, name};
  options.fork_server = fork_server;
  options.timeout_seconds = timeout;
  auto program = CheckProgram::create(options);
  EXPECT_TRUE(program) << (program ? "" : program.error().message);
  return std::move(*program);
}

inline CheckProgram controlled_program(const std::string& build, const std::string& name,
                                       bool fork_server = true, double timeout = 60) {
  return program_of("controlled", build, name, fork_server, timeout);
}

inline CheckResult run(CheckProgram& program, const CheckPlan& plan) {
  auto result = program.run(plan);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? std::move(*result) : CheckResult{};
}

inline bool same_schedule(const Execution& a, const Execution& b) {
  return a.schedule.size() == b.schedule.size() &&
         std::memcmp(a.schedule.data(), b.schedule.data(),
                     a.schedule.size() * sizeof(format::ScheduleItem)) == 0;
}

/// A strict replay of what was taken.
inline CheckPlan replay_of(const Execution& execution) {
  CheckPlan plan;
  plan.modules = execution.module_names();
  plan.schedule = execution.schedule;
  plan.flags = format::kPlanStrictSchedule;
  return plan;
}

}  // namespace simrt::testing
