// SIMRT_BUILD=check: the commands, and programs from wrapper and toolchain file, in one step and in two.
#include "wrappers/check_build.h"

#include <gmock/gmock.h>

#include "sandbox.h"

namespace simrt::wrappers {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Words = std::vector<std::string>;

const RuntimeFiles kRuntime = {"/opt/simrt,lib"};

Words planned(const Words& arguments, Family family) {
  const Compiler compiler = {{family == Family::Clang ? "clang++-19" : "g++-12"}, family};
  return check_command(compiler, parse_command_line(arguments), kRuntime);
}

TEST(CheckBuild, TheVariableChooses) {
  EXPECT_EQ(*build_of(nullptr), Build::Record);
  EXPECT_EQ(*build_of("record"), Build::Record);
  EXPECT_EQ(*build_of("check"), Build::Check);
  EXPECT_FALSE(build_of("Check"));
}

TEST(CheckBuild, CompilationKeepsTheUsersOptionsLast) {
  EXPECT_THAT(planned({"-O2", "-c", "a.cc"}, Family::Gcc),
              ElementsAre("g++-12", "-fsanitize=thread", "-fno-omit-frame-pointer", "-Wno-tsan", "-g", "-O2",
                          "-c", "a.cc"));
  EXPECT_THAT(planned({"-g0", "-c", "a.cc"}, Family::Clang),
              ElementsAre("clang++-19", "-fsanitize=thread", "-fno-omit-frame-pointer", "-mllvm",
                          "-tsan-instrument-read-before-write", "-g0", "-c", "a.cc", "-g"));
  EXPECT_THAT(planned({"--version"}, Family::Clang), ElementsAre("clang++-19", "--version"));
}

TEST(CheckBuild, LinkingNeverBringsInTheOtherRuntime) {
  EXPECT_THAT(planned({"a.o", "-s"}, Family::Gcc), Not(Contains("-fsanitize=thread")));
  EXPECT_THAT(planned({"a.o", "-s"}, Family::Gcc), Not(Contains("-s")));
  EXPECT_THAT(planned({"a.o"}, Family::Clang), Contains("/opt/simrt,lib/libsimrt_check.so"));
  EXPECT_THAT(planned({"a.cc"}, Family::Clang), Contains("-fno-sanitize-link-runtime"));
  EXPECT_THAT(planned({"a.cc"}, Family::Gcc), Contains("/opt/simrt,lib/in_place_of_tsan"));
  EXPECT_THAT(planned({"-r", "a.o"}, Family::Gcc), Not(Contains("/opt/simrt,lib/libsimrt_check.so")));
}

class CheckProgramBuild : public Sandbox {
 protected:
  void SetUp() override {
    write("a.cc",
          "#include <atomic>\n#include <thread>\nint n;\nint main() { std::thread t([] { ++n; "
          "std::atomic_thread_fence(std::memory_order_release); }); t.join(); return n - 1; }\n");
  }
  void expect_check_program(const std::string& file) {
    const Outcome needed = shell("readelf -d " + file);
    EXPECT_THAT(needed.output, HasSubstr("libsimrt_check.so"));
    EXPECT_THAT(needed.output, Not(HasSubstr("tsan")));
    EXPECT_THAT(shell("nm -D " + file).output, HasSubstr("U __tsan_write4"));
    EXPECT_EQ(shell("./" + file).status, 0);
  }
};

TEST_F(CheckProgramBuild, WrappersInOneStepAndInTwo) {
  for (const std::string wrapper : {"simrt-clang++", "simrt-g++"}) {
    expect_success("export SIMRT_BUILD=check; " + wrapper + " -Wall -Werror a.cc -o one && " + wrapper +
                   " -Wall -Werror -c a.cc && " + wrapper + " a.o -o two");
    expect_check_program("one");
    expect_check_program("two");
  }
  EXPECT_THAT(shell("SIMRT_BUILD=tsan simrt-g++ a.cc").output, HasSubstr("use 'record' or 'check'"));
}

TEST_F(CheckProgramBuild, Toolchain) {
  write("p/CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.16)
project(demo CXX)
set(CMAKE_CXX_FLAGS "-Wall -Werror")
set(CMAKE_EXE_LINKER_FLAGS "-Wl,--as-needed")
find_package(Threads REQUIRED)
add_executable(program ../a.cc)
target_link_libraries(program PRIVATE Threads::Threads)
)");
  for (const std::string compiler : {"clang++-19", "g++-12"}) {
    expect_success("rm -rf b && cmake -S p -B b -G Ninja --toolchain '" SIMRT_RUNTIME_DIRECTORY
                   "/simrt-toolchain.cmake' -DSIMRT_BUILD=check -DCMAKE_CXX_COMPILER=" +
                   compiler + " && ninja -C b && cp b/program .");
    expect_check_program("program");
  }
  EXPECT_THAT(
      shell("cmake -S p -B c --toolchain '" SIMRT_RUNTIME_DIRECTORY "/simrt-toolchain.cmake' -DSIMRT_BUILD=x")
          .output,
      HasSubstr("use 'record' or 'check'"));
}

}  // namespace
}  // namespace simrt::wrappers
