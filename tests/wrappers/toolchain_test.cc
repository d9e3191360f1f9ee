// simrt-toolchain.cmake: a CMake project that sets flags of its own, from the build tree and after
// installation.
#include <gmock/gmock.h>

#include "sandbox.h"
#include "testing/trace.h"

namespace simrt::wrappers {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class Toolchain : public Sandbox {
 protected:
  void SetUp() override {
    // Overwrites every flag variable, probes with links, builds all kinds of targets.
    write("p/CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.16)
project(demo LANGUAGES C CXX)
set(CMAKE_C_FLAGS "-Wall -Werror")
set(CMAKE_CXX_FLAGS "-Wall -Werror -O1")
set(CMAKE_EXE_LINKER_FLAGS "-Wl,--as-needed")
set(CMAKE_SHARED_LINKER_FLAGS "-Wl,--as-needed")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("int main() { return 0; }" LINKS)
if(NOT LINKS)
  message(FATAL_ERROR "a probe failed")
endif()
find_package(Threads REQUIRED)
add_library(fixed STATIC fixed.c)
add_library(shared SHARED shared.cc)
add_library(plugin MODULE plugin.cc)
add_executable(program main.cc)
target_link_libraries(program PRIVATE fixed shared Threads::Threads ${CMAKE_DL_LIBS})
)");
    write("p/fixed.c", "int fixed(int n);\nint fixed(int n) { return n > 1 ? n : 2; }\n");
    write("p/shared.cc", "int shared_part(int n) { if (n > 1) return 2; return n; }\n");
    write("p/plugin.cc", "extern \"C\" int plugin(int n) { return n > 1 ? n : 2; }\n");
    write("p/main.cc", R"(#include <dlfcn.h>
#include <thread>
extern "C" int fixed(int);
int shared_part(int);
int main() {
  std::thread thread([] { shared_part(fixed(3)); });
  thread.join();
  void* handle = dlopen("./libplugin.so", RTLD_NOW);
  if (handle == nullptr) return 1;
  return reinterpret_cast<int (*)(int)>(dlsym(handle, "plugin"))(1) - 2;
}
)");
  }

  void expect_records(const std::string& toolchain, const std::string& compilers,
                      const std::string& options = "") {
    const std::string build =
        "cmake -S p -B b -G Ninja --toolchain '" + toolchain + "' " + options + " && ninja -C b";
    const Outcome built = shell("rm -rf b t; export " + compilers + "; " + build);
    ASSERT_EQ(built.status, 0) << compilers << "\n" << built.output;
    EXPECT_THAT(built.output, Not(HasSubstr("warning: "))) << built.output;
    ASSERT_EQ(shell("cd b && SIMRT_TRACE='" + path("t") + "' ./program").status, 0);
    const auto trace = simrt::testing::read_trace(path("t"));
    ASSERT_TRUE(trace) << compilers;
    EXPECT_TRUE(trace->complete);
    EXPECT_THAT(trace->modules, SizeIs(3));  // program, shared, plugin
    ASSERT_THAT(trace->threads, SizeIs(2));
    for (std::size_t m = 0; m < trace->modules.size(); ++m) {
      const bool by_thread = !trace->threads[1].covered[m].empty(),
                 by_main = !trace->threads[0].covered[m].empty();
      EXPECT_TRUE(by_thread || by_main) << trace->modules[m].path;
      EXPECT_THAT(trace->modules[m].pcs, Not(IsEmpty()));
    }
  }
};

const char kBuildTree[] = SIMRT_RUNTIME_DIRECTORY "/simrt-toolchain.cmake";

TEST_F(Toolchain, EveryCompilerFromTheBuildTree) {
  expect_records(kBuildTree, "SIMRT_CC=clang-19 SIMRT_CXX=clang++-19");
  EXPECT_THAT(shell("objdump -d b/program | grep -c 'call.*trace_pc_guard>'").output,
              HasSubstr("0"));  // inlined
  EXPECT_THAT(read("b/compile_commands.json"), HasSubstr("clang++-19"));
  expect_records(kBuildTree, "CC=gcc-12 CXX=g++-12");
  if (shell("command -v clang++-14").status == 0) {
    expect_records(kBuildTree, "NOTHING=1", "-DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14");
  }
}

// Build systems run CMake again by themselves, in whatever environment.
TEST_F(Toolchain, ConfiguringAgainElsewhereKeepsTheCompiler) {
  write("q/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.16)\nproject(q LANGUAGES CXX)\nadd_executable(q q.cc)\n");
  write("q/q.cc", "int main() { return 0; }\n");
  const std::string configure =
      std::string("cmake -S q -B c -G Ninja -DCMAKE_BUILD_TYPE=Debug --toolchain '") + kBuildTree + "'";
  expect_success("export SIMRT_CXX=clang++-19; " + configure);
  const std::string first = shell("ninja -C c -t commands").output;
  expect_success(
      "export CXX=g++-12; cmake c && cmake -DSIMRT_INLINE=ON c && touch q/CMakeLists.txt && ninja -C c");
  const std::string again = shell("ninja -C c -t commands").output;
  EXPECT_THAT(first, HasSubstr("clang++-19"));
  EXPECT_THAT(first, HasSubstr("trace-pc-guard"));
  EXPECT_EQ(first, again);
}

TEST_F(Toolchain, WithoutInliningAndWithoutAChosenCompiler) {
  expect_records(kBuildTree, "SIMRT_CC=clang-19 SIMRT_CXX=clang++-19", "-DSIMRT_INLINE=OFF");
  EXPECT_THAT(shell("objdump -d b/program").output, HasSubstr("__sanitizer_cov_trace_pc_guard>"));
  expect_records(kBuildTree, "NOTHING=1");
}

TEST_F(Toolchain, ChainsToTheProjectsOwnToolchainAndLauncher) {
  write("own.cmake",
        "set(CMAKE_C_COMPILER clang-19)\nset(CMAKE_CXX_COMPILER clang++-19)\nset(OWN_TOOLCHAIN ON)\n");
  expect_records(kBuildTree, "CCACHE_DIR='" + path("ccache") + "'",
                 "-DSIMRT_USER_TOOLCHAIN='" + path("own.cmake") + "' -DCMAKE_CXX_COMPILER_LAUNCHER=ccache");
}

TEST_F(Toolchain, AfterInstallation) {
  expect_success("cmake --install '" SIMRT_BINARY_DIR "' --component instrumentation --prefix '" +
                 path("prefix") + "'");
  std::string toolchain;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path("prefix"))) {
    if (entry.path().filename() == "simrt-toolchain.cmake") toolchain = entry.path().string();
  }
  ASSERT_NE(toolchain, "");
  expect_records(toolchain, "SIMRT_CC=clang-19 SIMRT_CXX=clang++-19");
  EXPECT_THAT(shell("readelf -d b/program").output, HasSubstr("[" + path("prefix")));
  // The installed wrappers find the installed runtime.
  expect_success("SIMRT_CXX=g++-12 '" + path("prefix/bin/simrt-g++") + "' -fsyntax-only p/shared.cc");
  expect_success("SIMRT_CXX=clang++-19 '" + path("prefix/bin/simrt-clang++") +
                 "' -fPIC -shared p/shared.cc -o s.so");
  EXPECT_THAT(shell("readelf -d s.so").output, HasSubstr("[" + path("prefix")));
}

}  // namespace
}  // namespace simrt::wrappers
