// What a program reads that the engine does not control is noted, by kind and name (programs/inputs.cc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "controlled_run.h"

namespace simrt::testing {
namespace {

using format::Input;

/// Those of the program's run, without what its start brings or its code holds.
std::vector<ExecutionInput> inputs_of(const Execution& execution) {
  std::vector<ExecutionInput> inputs = execution.inputs;
  std::erase_if(inputs, [](const ExecutionInput& input) {
    return input.kind == Input::Addresses || input.kind == Input::RandomInstruction;
  });
  return inputs;
}

struct Source {
  const char* program;
  Input kind;
  const char* name;
};
void PrintTo(const Source& source, std::ostream* out) { *out << source.program; }

class Inputs : public ::testing::TestWithParam<Source> {};

TEST_P(Inputs, AreNoted) {
  for (const std::string& build : controlled_builds()) {
    for (const bool fork_server : {true, false}) {
      CheckProgram program = program_of("inputs", build, GetParam().program, fork_server);
      // The second one finds the header as the first one left it, and its files.
      for (int i = 0; i < 2; ++i) {
        CheckPlan plan;
        plan.flags = format::kPlanRecordEvents;
        const CheckResult result = run(program, plan);
        ASSERT_EQ(result.end, CheckEnd::Finished) << build << result.output;
        ASSERT_EQ(result.status, 0) << build << result.output;
        const auto inputs = inputs_of(result.execution);
        const auto found = std::find_if(inputs.begin(), inputs.end(), [](const ExecutionInput& input) {
          return input.kind == GetParam().kind;
        });
        ASSERT_NE(found, inputs.end()) << build;
        EXPECT_THAT(found->name, ::testing::StartsWith(GetParam().name)) << build;
        EXPECT_NE(found->pc, 0U) << build;
        EXPECT_LE(found->events, result.execution.events.size()) << build;
        EXPECT_FALSE(found->before_execution) << build;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Control, Inputs,
                         ::testing::Values(Source{"getrandom", Input::RandomNumber, "getrandom"},
                                           Source{"getentropy", Input::RandomNumber, "getentropy"},
                                           Source{"syscallrandom", Input::RandomNumber, "getrandom"},
                                           Source{"randomdevice", Input::RandomNumber, "std::random_device"},
                                           Source{"urandom", Input::RandomNumber, "/dev/urandom"},
                                           Source{"urandomstream", Input::RandomNumber, "/dev/urandom"},
                                           Source{"auxiliary", Input::RandomNumber, "getauxval"},
                                           Source{"pid", Input::ProcessNumber, "getpid"},
                                           Source{"syscalltid", Input::ProcessNumber, "gettid"},
                                           Source{"tidofthread", Input::ProcessNumber, "gettid"},
                                           Source{"threadclock", Input::Clock, "clock_gettime"},
                                           Source{"usage", Input::Clock, "getrusage"},
                                           Source{"filetime", Input::FileStatus, "stat"},
                                           Source{"directory", Input::DirectoryOrder, "readdir"},
                                           Source{"memorymap", Input::SystemState, "/proc/self/maps"},
                                           Source{"childspipe", Input::OtherProcess, "pipe"},
                                           Source{"commandsoutput", Input::OtherProcess, "popen"},
                                           Source{"keptfile", Input::KeptFile, "inputs-"},
                                           Source{"sharedmemory", Input::KeptFile, "simrt-inputs-"},
                                           Source{"namedsemaphore", Input::KeptFile, "simrt-inputs-"},
                                           Source{"namedqueue", Input::KeptFile, "simrt-inputs-"},
                                           Source{"keyedmemory", Input::KeptFile, "shmget"},
                                           Source{"keyedsemaphore", Input::KeptFile, "semget"},
                                           Source{"keyedqueue", Input::KeptFile, "msgget"},
                                           Source{"temporaryname", Input::TemporaryName, "mkstemp"},
                                           Source{"temporarydirectory", Input::TemporaryDirectory, "TMPDIR"}),
                         [](const auto& info) { return std::string(info.param.program); });

TEST(NoInputs, WhereAllIsControlled) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = program_of("inputs", build, "nothing");
    const CheckResult result = run(program, CheckPlan{});
    EXPECT_EQ(result.status, 0) << build << result.output;
    for (const ExecutionInput& input : inputs_of(result.execution)) ADD_FAILURE() << build << input.name;
  }
}

// What the fork server read before it served is the same for all of its executions.
TEST(InputsBeforeMain, BelongToTheStart) {
  for (const std::string& build : controlled_builds()) {
    for (const bool fork_server : {true, false}) {
      CheckProgram program = program_of("inputs", build, "beforemain", fork_server);
      for (int i = 0; i < 2; ++i) {
        const auto inputs = inputs_of(run(program, CheckPlan{}).execution);
        ASSERT_EQ(inputs.size(), 1U) << build;
        EXPECT_EQ(inputs[0].kind, Input::ProcessNumber) << build;
        EXPECT_EQ(inputs[0].before_execution, fork_server) << build;
        EXPECT_EQ(inputs[0].events, 0U) << build;
      }
    }
  }
}

// What an execution reads itself is its own, though the server has read such, too, and of no other one.
TEST(InputsBeforeMain, DoNotStandForLaterOnes) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = program_of("inputs", build, "inturns");
    std::vector<std::string> names;
    for (int i = 0; i < 2; ++i) {
      const auto inputs = inputs_of(run(program, CheckPlan{}).execution);
      ASSERT_EQ(inputs.size(), 1U) << build;
      EXPECT_EQ(inputs[0].before_execution, inputs[0].name == "getpid") << build;
      names.push_back(inputs[0].name);
    }
    EXPECT_THAT(names, ::testing::UnorderedElementsAre("getpid", "getppid")) << build;
  }
}

#if defined(__x86_64__)
TEST(InputsOfTheProcessor, AreFoundInTheCode) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = program_of("inputs", build, "nothing");
    const Execution execution = run(program, CheckPlan{}).execution;
    const auto found =
        std::find_if(execution.inputs.begin(), execution.inputs.end(),
                     [](const ExecutionInput& input) { return input.kind == Input::RandomInstruction; });
    ASSERT_NE(found, execution.inputs.end()) << build;
    EXPECT_TRUE(execution.site_of(found->pc)) << build;
    EXPECT_FALSE(found->before_execution) << build << ": whether and when it is run nobody knows";
    CheckProgram other = controlled_program(build, "timestampsleft");
    for (const ExecutionInput& input : run(other, CheckPlan{}).execution.inputs)
      EXPECT_NE(input.kind, Input::RandomInstruction) << build;
  }
}
#endif

}  // namespace
}  // namespace simrt::testing
