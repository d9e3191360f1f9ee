// What is run instead of a compiler command.
#include "wrappers/plan.h"

#include <gmock/gmock.h>

namespace simrt::wrappers {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

using Words = std::vector<std::string>;

const Compiler kClang = {{"clang++-19"}, Family::Clang};
const Compiler kGcc = {{"ccache", "g++-12"}, Family::Gcc};
const RuntimeFiles kRuntime = {"/opt/simrt,lib"};
const std::string kCoverage = "-fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table";

Words planned(const Words& arguments, const Compiler& compiler = kClang) {
  return instrumented_command(compiler, parse_command_line(arguments), kRuntime);
}

TEST(Plan, QuestionsAndPreprocessingAreLeftAlone) {
  EXPECT_THAT(planned({"--version"}), ElementsAre("clang++-19", "--version"));
  EXPECT_THAT(planned({"-E", "a.cc"}), ElementsAre("clang++-19", "-E", "a.cc"));
  EXPECT_THAT(planned({"-m32", "a.cc"}), ElementsAre("clang++-19", "-m32", "a.cc"));
  EXPECT_THAT(planned({"-c", "a.S"}), ElementsAre("clang++-19", "-c", "a.S"));
}

TEST(Plan, CompilationKeepsTheUsersOptionsLast) {
  EXPECT_THAT(planned({"-O2", "-c", "a.cc"}),
              ElementsAre("clang++-19", kCoverage, "-g", "-O2", "-c", "a.cc"));
  EXPECT_THAT(planned({"-g3", "-c", "a.cc"}), ElementsAre("clang++-19", kCoverage, "-g3", "-c", "a.cc"));
  EXPECT_THAT(planned({"-g0", "-c", "a.cc"}),
              ElementsAre("clang++-19", kCoverage, "-g0", "-c", "a.cc", "-g"));
  EXPECT_THAT(planned({"-c", "a.cc"}, kGcc),
              ElementsAre("ccache", "g++-12", "-fsanitize-coverage=trace-pc", "-fno-optimize-sibling-calls",
                          "-fno-ipa-icf", "-g", "-c", "a.cc"));
}

TEST(Plan, LinkingAddsTheRuntimeButNoCompileFlags) {
  const Words command = planned({"a.o", "-o", "a"});
  EXPECT_THAT(command, Contains("/opt/simrt,lib/libsimrt_cover.a"));
  EXPECT_THAT(command, Contains("/opt/simrt,lib/libsimrt_rt.so"));
  EXPECT_THAT(command, Not(Contains(kCoverage)));
  for (std::size_t i = 0; i < command.size(); ++i) {  // nothing that -x could turn into source code
    if (command[i][0] == '/') {
      EXPECT_EQ(command[i - 1], "-Xlinker");
    }
  }
  EXPECT_THAT(planned({"-shared", "a.o"}), Contains("/opt/simrt,lib/libsimrt_cover.a"));
}

TEST(Plan, OneStepDoesBothWithoutASanitizerRuntime) {
  EXPECT_THAT(planned({"a.cc"}), AllOf(Contains(kCoverage), Contains("-fno-sanitize-link-runtime"),
                                       Contains("/opt/simrt,lib/libsimrt_rt.so")));
  EXPECT_THAT(planned({"-fsanitize=address", "a.cc"}), Not(Contains("-fno-sanitize-link-runtime")));
  EXPECT_THAT(planned({"a.cc"}, kGcc), Not(Contains("-fno-sanitize-link-runtime")));
}

TEST(Plan, SpecialLinks) {
  EXPECT_THAT(planned({"-r", "a.o", "-o", "b.o"}), ElementsAre("clang++-19", "-r", "a.o", "-o", "b.o"));
  EXPECT_THAT(planned({"-Wl,--whole-archive,/x/libsimrt_cover.a", "a.o"}),
              ElementsAre("clang++-19", "-Wl,--whole-archive,/x/libsimrt_cover.a", "a.o"));
  const Words fixed = planned({"-static", "a.o"});
  EXPECT_THAT(fixed, AllOf(Contains("/opt/simrt,lib/libsimrt_rt.a"), Contains("--wrap=pthread_create")));
  EXPECT_THAT(fixed, Not(Contains("/opt/simrt,lib/libsimrt_rt.so")));
}

TEST(Plan, LineTablesAreNotStripped) {
  EXPECT_THAT(planned({"-s", "a.o"}), Not(Contains("-s")));
  EXPECT_THAT(planned({"-Wl,--strip-all", "a.o"}), Not(Contains("-Wl,--strip-all")));
}

std::optional<InlineSteps> inlined(Words arguments) {
  arguments.insert(arguments.begin(), kCoverage);
  return inline_steps({"clang++"}, arguments, "hook.bc");
}

TEST(InlineSteps, SplitOptionsBetweenFrontAndBackEnd) {
  const auto steps =
      inlined({"-std=c++20", "-O2", "-fPIC", "-I", "inc", "-DX=1", "-Wall", "-MD", "-MF", "a.d", "-MT", "a.o",
               "-c", "src/a.cc", "-Wa,--noexecstack", "-mavx2", "-o", "out/a.o"});
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->intermediate, "out/a.o.simrt.bc");
  EXPECT_THAT(
      steps->instrument,
      ElementsAre("clang++", kCoverage, "-std=c++20", "-O2", "-fPIC", "-I", "inc", "-DX=1", "-Wall", "-MD",
                  "-MF", "a.d", "-MT", "a.o", "-c", "src/a.cc", "-Wa,--noexecstack", "-mavx2", "-emit-llvm",
                  "-Xclang", "-mlink-bitcode-file", "-Xclang", "hook.bc", "-o", "out/a.o.simrt.bc"));
  EXPECT_THAT(steps->generate, ElementsAre("clang++", "-O2", "-fPIC", "-Wa,--noexecstack", "-mavx2",
                                           "-Wno-unused-command-line-argument", "-x", "ir",
                                           "out/a.o.simrt.bc", "-c", "-o", "out/a.o"));
}

TEST(InlineSteps, DependenciesAreNamedAfterTheObject) {
  const auto steps = inlined({"-MMD", "-c", "src/a.b.cc"});
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->generate.back(), "a.b.o");
  EXPECT_THAT(steps->instrument, AllOf(Contains("a.b.d"), Contains("-MQ"), Contains("a.b.o")));
}

TEST(InlineSteps, OnlyForPlainInstrumentedCompilations) {
  EXPECT_FALSE(inline_steps({"clang++"}, {"-c", "a.cc"}, "hook.bc"));  // not instrumented
  for (const Words& words : std::vector<Words>{{"a.cc", "-o", "a"},
                                               {"-S", "a.cc"},
                                               {"-c", "a.cc", "b.cc"},
                                               {"-c", "a.S"},
                                               {"-c", "-x", "c++", "-", "-o", "-"},
                                               {"-c", "a.cc", "-flto"},
                                               {"-c", "a.cc", "-fsanitize=address"},
                                               {"-c", "a.cc", "-fprofile-instr-generate"},
                                               {"-c", "a.cc", "-emit-llvm"},
                                               {"-c", "a.cc", "-gsplit-dwarf"},
                                               {"-E", "-c", "a.cc"},
                                               {"-c", "a.cc", "-o", "/dev/null"},
                                               {"-c", "-m32", "a.cc"},
                                               {"-c", "a.cc", "-save-temps"},
                                               {"-fmodule-output", "-c", "a.cppm"}}) {
    EXPECT_FALSE(inlined(words)) << ::testing::PrintToString(words);
  }
  EXPECT_TRUE(inlined({"-c", "a.c"}));
  EXPECT_TRUE(inlined({"-c", "a.c", "-o", "/dev/shm/a.o"}));
}

std::optional<InlineSteps> assembled(Words arguments) {
  arguments.insert(arguments.begin(), "-fsanitize-coverage=trace-pc");
  return assembly_steps({"ccache", "g++"}, arguments, "hook.h");
}

TEST(AssemblySteps, SplitOptionsBetweenCompilerAndAssembler) {
  const auto steps = assembled({"-O2", "-pipe", "-include", "pch.h", "-MD", "-g", "-gz", "-c", "src/a.cc",
                                "-Xassembler", "--x", "-Wa,-q", "-mavx2", "-o", "out/a.o"});
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->intermediate, "out/a.o.simrt.s");
  EXPECT_THAT(
      steps->instrument,
      ElementsAre("ccache", "g++", "-fipa-ra", "-fsanitize-coverage=trace-pc", "-O2", "-pipe", "-include",
                  "pch.h", "-MD", "-g", "-gz", "-S", "src/a.cc", "-Xassembler", "--x", "-Wa,-q", "-mavx2",
                  "-include", "hook.h", "-o", "out/a.o.simrt.s", "-MF", "out/a.d", "-MQ", "out/a.o"));
  EXPECT_THAT(steps->generate, ElementsAre("ccache", "g++", "-pipe", "-gz", "-Xassembler", "--x", "-Wa,-q",
                                           "-mavx2", "-c", "out/a.o.simrt.s", "-o", "out/a.o"));
}

TEST(AssemblySteps, OnlyForPlainInstrumentedCompilations) {
  EXPECT_FALSE(assembly_steps({"g++"}, {"-c", "a.cc"}, "hook.h"));  // not instrumented
  for (const Words& words : std::vector<Words>{{"a.cc", "-o", "a"},
                                               {"-S", "a.cc"},
                                               {"-c", "a.cc", "b.cc"},
                                               {"-c", "a.S"},
                                               {"-c", "-x", "assembler", "a.cc"},
                                               {"-c", "-x", "c++-header", "a.cc"},
                                               {"-c", "a.h"},
                                               {"-c", "a.cc", "-m32"},
                                               {"-c", "a.cc", "-masm=intel"},
                                               {"-c", "a.cc", "-flto=auto"},
                                               {"-c", "a.cc", "-save-temps"},
                                               {"-c", "a.cc", "-gsplit-dwarf"},
                                               {"-c", "a.cc", "--coverage"},
                                               {"-E", "-c", "a.cc"},
                                               {"-c", "a.cc", "-o", "/dev/null"}}) {
    EXPECT_FALSE(assembled(words)) << ::testing::PrintToString(words);
  }
  EXPECT_TRUE(assembled({"-c", "a.c"}));
}

}  // namespace
}  // namespace simrt::wrappers
