#include "support/subprocess.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "support/files.h"

namespace simrt {
namespace {

using End = ProcessResult::End;
using testing::HasSubstr;

ProcessSpec shell(const std::string& script) {
  ProcessSpec spec;
  spec.command = {"/bin/sh", "-c", script};
  return spec;
}

/// A process that exists and is not merely waiting to be reaped.
bool alive(int process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  if (!std::getline(stat, text)) return false;
  return text[text.rfind(')') + 2] != 'Z';
}

bool dies_soon(int process) {
  for (int i = 0; i < 300 && alive(process); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return !alive(process);
}

TEST(Subprocess, ExitStatusAndOutput) {
  const auto result = run_process(shell("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end, End::Exited);
  EXPECT_EQ(result->code, 3);
  EXPECT_FALSE(result->succeeded());
  EXPECT_EQ(result->output, "out\nerr\n");
  EXPECT_EQ(result->left_behind_count, 0U);
  EXPECT_GT(result->peak_rss_bytes, 0U);
}

TEST(Subprocess, MemoryIsTheProgramsNotTheCallers) {
  constexpr std::size_t kCaller = 200 << 20;
  const std::vector<char> resident(kCaller, 1);
  ProcessSpec spec;
  spec.command = {"true"};
  EXPECT_LT(run_process(spec)->peak_rss_bytes, kCaller / 4);
  spec.command = {"dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"};
  EXPECT_GT(run_process(spec)->peak_rss_bytes, 64U << 20);
  EXPECT_EQ(resident.back(), 1);
}

TEST(Subprocess, StreamsApart) {
  ProcessSpec spec = shell("echo out; echo err >&2");
  spec.separate_errors = true;
  const auto result = run_process(spec);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output, "out\n");
  EXPECT_EQ(result->errors, "err\n");
  EXPECT_TRUE(result->succeeded());
}

TEST(Subprocess, ArgumentsAreNeverInterpreted) {
  ProcessSpec spec;
  spec.command = {"printf", "%s|", "a b", "$HOME", "*", "", "'\"\\;\n"};
  EXPECT_EQ(run_process(spec)->output, "a b|$HOME|*||'\"\\;\n|");
}

TEST(Subprocess, DirectoryAndEnvironment) {
  const TemporaryDirectory directory = TemporaryDirectory::create().value();
  ::setenv("SIMRT_TEST_REMOVED", "1", 1);
  ::setenv("SIMRT_TEST_KEPT", "kept", 1);
  ProcessSpec spec = shell("pwd; echo ${SIMRT_TEST_REMOVED-gone} $SIMRT_TEST_KEPT $SIMRT_TEST_ADDED");
  spec.directory = directory.path();
  spec.environment = {{"SIMRT_TEST_ADDED", "a=b"}};
  spec.unset_environment = {"SIMRT_TEST_REMOVED"};
  EXPECT_EQ(run_process(spec)->output, directory.path() + "\ngone kept a=b\n");
}

TEST(Subprocess, ProgramsAreFoundInThePathOfTheGivenEnvironment) {
  const TemporaryDirectory directory = TemporaryDirectory::create().value();
  std::ofstream(directory.file("simrt-own-tool")) << "#!/bin/sh\necho mine\n";
  ASSERT_EQ(::chmod(directory.file("simrt-own-tool").c_str(), 0755), 0);
  ProcessSpec spec;
  spec.command = {"simrt-own-tool"};
  EXPECT_EQ(run_process(spec)->end, End::NotStarted);
  spec.environment["PATH"] = "/bin:" + directory.path();
  EXPECT_EQ(run_process(spec)->output, "mine\n");
  spec.command = {"./simrt-own-tool"};
  spec.directory = directory.path();
  EXPECT_EQ(run_process(spec)->output, "mine\n");
}

TEST(Subprocess, WhatCannotStartSaysWhy) {
  ProcessSpec spec;
  spec.command = {"/no/such/program"};
  auto result = run_process(spec);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end, End::NotStarted);
  EXPECT_EQ(result->code, ENOENT);
  EXPECT_THAT(result->notes,
              testing::ElementsAre("cannot execute /no/such/program: No such file or directory"));

  spec.command = {"/etc/passwd"};
  EXPECT_EQ(run_process(spec)->code, EACCES);

  spec = shell("true");
  spec.directory = "/no/such/directory";
  result = run_process(spec);
  EXPECT_EQ(result->end, End::NotStarted);
  EXPECT_THAT(result->notes.at(0), HasSubstr("cannot enter the directory /no/such/directory"));

  EXPECT_EQ(run_process(ProcessSpec{}).error().code, ErrorCode::Execution);
}

TEST(Subprocess, DeathBySignal) {
  const auto result = run_process(shell("kill -SEGV $$"));
  EXPECT_EQ(result->end, End::Signalled);
  EXPECT_EQ(result->code, SIGSEGV);
  EXPECT_EQ(signal_name(SIGSEGV), "Segmentation fault (SIGSEGV)");
  EXPECT_EQ(signal_name(999), "signal 999");
}

TEST(Subprocess, StandardInputIsEmpty) { EXPECT_EQ(run_process(shell("cat; echo end"))->output, "end\n"); }

TEST(Subprocess, TimeoutTerminatesPolitely) {
  ProcessSpec spec = shell("trap 'echo caught; exit 5' TERM; echo start; while :; do sleep 0.05; done");
  spec.timeout_seconds = 0.3;
  const auto result = run_process(spec);
  EXPECT_EQ(result->end, End::TimedOut);
  EXPECT_THAT(result->output, testing::StartsWith("start\n"));
  EXPECT_THAT(result->output, testing::EndsWith("caught\n"));
  EXPECT_GE(result->seconds, 0.3);
  EXPECT_LT(result->seconds, 2);
}

TEST(Subprocess, TimeoutKillsWhoIgnoresTerm) {
  ProcessSpec spec = shell("trap '' TERM; sleep 60 & sleep 60; sleep 60");
  spec.timeout_seconds = 0.2;
  spec.grace_seconds = 0.2;
  const auto result = run_process(spec);
  EXPECT_EQ(result->end, End::TimedOut);
  EXPECT_EQ(result->code, SIGKILL);
  EXPECT_LT(result->seconds, 5);
}

TEST(Subprocess, NoDescriptorsLeakIntoTheProgram) {
  const int descriptor = ::dup(0);  // without close-on-exec
  const auto result = run_process(shell("ls /proc/self/fd"));
  ::close(descriptor);
  EXPECT_EQ(result->output, "0\n1\n2\n3\n");  // 3 is ls's own
}

TEST(Subprocess, SignalsAreResetForTheProgram) {
  ::signal(SIGPIPE, SIG_IGN);
  const auto result = run_process(shell("grep -E 'Sig(Blk|Ign)' /proc/self/status"));
  ::signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(result->output, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(Subprocess, OutputIsBoundedToItsTail) {
  ProcessSpec spec = shell("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done");
  spec.output_limit = 100;
  const auto result = run_process(spec);
  EXPECT_EQ(result->output.size(), 100U);
  EXPECT_THAT(result->output, testing::EndsWith("line 19999\n"));
  EXPECT_GT(result->output_dropped, 200'000U);
}

TEST(Subprocess, LeftBehindChildIsReportedAndKilled) {
  const auto begin = std::chrono::steady_clock::now();
  const auto result = run_process(shell("sleep 60 & echo $!; exit 0"));
  ASSERT_EQ(result->end, End::Exited);
  EXPECT_EQ(result->code, 0);
  ASSERT_EQ(result->left_behind_count, 1U);
  EXPECT_EQ(result->left_behind[0].name, "sleep");
  EXPECT_FALSE(result->left_behind[0].detached);
  EXPECT_FALSE(alive(std::stoi(result->output)));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_LT(result->seconds, 1);  // the program's own time only
}

TEST(Subprocess, DaemonInASessionOfItsOwnIsReportedAndKilled) {
  const auto result = run_process(shell("(setsid sh -c 'echo $$; exec sleep 60' &) ; sleep 0.1"));
  ASSERT_EQ(result->end, End::Exited);
  ASSERT_EQ(result->left_behind_count, 1U);
  EXPECT_TRUE(result->left_behind[0].detached);
  EXPECT_FALSE(alive(std::stoi(result->output)));
}

TEST(Subprocess, ChildrenThatEndByThemselvesAreNotReported) {
  const auto result = run_process(shell("(sleep 0.02; echo late) & exit 0"));
  EXPECT_EQ(result->left_behind_count, 0U);
  EXPECT_EQ(result->output, "late\n");
}

TEST(Subprocess, InterruptStopsTheProgram) {
  InterruptToken token;
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    token.request();
  });
  const auto result = run_process(shell("sleep 60"), &token);
  user.join();
  EXPECT_EQ(result->end, End::Interrupted);
  EXPECT_LT(result->seconds, 10);
}

TEST(Subprocess, ManyAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> outputs(8);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    threads.emplace_back([&outputs, i] {
      for (int round = 0; round < 5; ++round) {
        // Descriptors of one run must not leak into another: the sleeping one would keep its pipe open.
        const auto result =
            run_process(shell("sleep 0.0" + std::to_string(i) + "; echo " + std::to_string(i)));
        outputs[i] += result ? result->output : result.error().message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string line = std::to_string(i) + "\n";
    EXPECT_EQ(outputs[i], line + line + line + line + line);
  }
}

TEST(Subprocess, EverythingDiesWithTheCaller) {
  const TemporaryDirectory directory = TemporaryDirectory::create().value();
  const std::string file = directory.file("pids");
  const pid_t caller = ::fork();
  if (caller == 0) {
    [[maybe_unused]] const auto result =
        run_process(shell("(setsid sleep 60 & echo $! >> " + file + "); echo $$ >> " + file + "; sleep 60"));
    ::_exit(0);
  }
  std::vector<int> processes;
  for (int i = 0; i < 500 && processes.size() < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    processes.clear();
    std::ifstream stream(file);
    for (int process = 0; stream >> process;) processes.push_back(process);
  }
  ASSERT_EQ(processes.size(), 2U);
  ::kill(caller, SIGKILL);
  ::waitpid(caller, nullptr, 0);
  EXPECT_TRUE(dies_soon(processes[0]));
  EXPECT_TRUE(dies_soon(processes[1]));
}

}  // namespace
}  // namespace simrt
