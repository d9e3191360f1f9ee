#include "pipeline/project/discover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "project_tree.h"

namespace simrt::project::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ProjectFindings discover(const ProjectTree& tree) {
  auto findings = discover_project(tree.root());
  EXPECT_TRUE(findings) << findings.error().message;
  return findings ? *findings : ProjectFindings{};
}

std::string hint_for(const ProjectFindings& findings, std::string_view what) {
  for (const Missing& missing : findings.missing) {
    if (missing.what.find(what) != std::string::npos) return missing.hint;
  }
  return "nothing is missing";
}

TEST(Discover, EmptyDirectoryLacksEverything) {
  ProjectTree tree;
  const ProjectFindings findings = discover(tree);
  EXPECT_THAT(findings.systems, IsEmpty());
  EXPECT_THAT(findings.builds, IsEmpty());
  EXPECT_EQ(findings.user_build(), nullptr);
  EXPECT_THAT(hint_for(findings, "build system"), HasSubstr(".simrt.toml"));
  EXPECT_EQ(discover_project(tree.path("absent")).error().code, ErrorCode::Project);
}

TEST(Discover, CMakeBuildsInsideAndBesideTheRepository) {
  ProjectTree tree;
  tree.write("CMakeLists.txt", "project(x)\nenable_testing()\n");
  tree.cmake_build(tree.path("out/debug"));
  tree.cmake_build(tree.root() + "-build", "/usr/bin/g++-12", "GNU", "12.2.0");
  tree.database(tree.root() + "-build");
  tree.ctest(tree.root() + "-build");
  const ProjectFindings findings = discover(tree);
  EXPECT_THAT(findings.systems, ElementsAre(BuildSystem::CMake));
  ASSERT_EQ(findings.builds.size(), 2u);
  const BuildDirectory& best = *findings.user_build();
  EXPECT_EQ(best.path, tree.root() + "-build") << "the one with a compile database";
  EXPECT_EQ(best.build_type, "Debug");
  EXPECT_TRUE(best.has_tests);
  EXPECT_FALSE(best.instrumented);
  ASSERT_EQ(best.compilers.size(), 1u);
  EXPECT_EQ(best.compilers[0].family, CompilerFamily::Gcc);
  EXPECT_EQ(best.compilers[0].major(), 12);
  EXPECT_FALSE(findings.builds[1].has_tests);
  EXPECT_EQ(findings.compile_database, tree.root() + "-build/compile_commands.json");
  EXPECT_EQ(hint_for(findings, "instrumented"),
            "cmake -S . -B build-simrt --toolchain \"$(simrt toolchain)\" && cmake --build build-simrt");
  EXPECT_EQ(hint_for(findings, "compile database"), "nothing is missing");
}

TEST(Discover, CompileDatabaseOfAnInstrumentedBuildByHand) {
  ProjectTree tree;
  tree.write("Makefile", "all:\n");
  tree.database(tree.path("build-simrt"));
  const ProjectFindings findings = discover(tree);
  EXPECT_EQ(findings.compile_database, tree.path("build-simrt/compile_commands.json"));
  EXPECT_EQ(hint_for(findings, "compile database"), "nothing is missing");
  EXPECT_EQ(suggested_config(findings, config::default_config(tree.root())).compile_database, "")
      << "where simrt looks by itself";
}

TEST(Discover, OtherProjectsAndCopiedBuildsDoNotCount) {
  ProjectTree tree;
  tree.write("CMakeLists.txt", "project(x)\n");
  const std::string other = tree.root() + "-other-build";
  ProjectTree::write_at(other + "/CMakeCache.txt", "CMAKE_CACHEFILE_DIR:INTERNAL=" + other +
                                                       "\nCMAKE_HOME_DIRECTORY:INTERNAL=/somewhere\n");
  tree.write("copied/CMakeCache.txt",
             "CMAKE_CACHEFILE_DIR:INTERNAL=/old/place\nCMAKE_HOME_DIRECTORY:INTERNAL=" + tree.root() + "\n");
  tree.write("garbage/CMakeCache.txt", "\x01\x02:=:=\nno entries");
  EXPECT_THAT(discover(tree).builds, IsEmpty());
}

TEST(Discover, InstrumentedBuildsAreToldByToolchainOrWrapper) {
  ProjectTree tree;
  tree.write("CMakeLists.txt", "project(x)\n");
  tree.cmake_build(tree.path("b1"), "/usr/bin/clang++-19", "Clang", "19.1.7",
                   "CMAKE_TOOLCHAIN_FILE:FILEPATH=/usr/share/simrt/simrt-toolchain.cmake\n");
  tree.cmake_build(tree.path("b2"), "/usr/bin/simrt-clang++");
  tree.cmake_build(tree.path("b3"), "/usr/bin/clang++-19", "Clang", "19.1.7",
                   "CMAKE_TOOLCHAIN_FILE:FILEPATH=/home/u/arm.cmake\n");
  const ProjectFindings findings = discover(tree);
  ASSERT_EQ(findings.builds.size(), 3u);
  EXPECT_EQ(findings.user_build()->path, tree.path("b3"));
  EXPECT_EQ(findings.instrumented_build()->path, tree.path("b1"));
  EXPECT_TRUE(findings.builds[2].instrumented);
  EXPECT_EQ(hint_for(findings, "instrumented"), "nothing is missing");
}

TEST(Discover, ABuildForCheckingIsNeitherTheUsersNorForRecording) {
  ProjectTree tree;
  tree.write("CMakeLists.txt", "project(x)\n");
  const std::string toolchain = "CMAKE_TOOLCHAIN_FILE:FILEPATH=/usr/share/simrt/simrt-toolchain.cmake\n";
  tree.cmake_build(tree.path("a-check"), "/usr/bin/clang++-19", "Clang", "19.1.7",
                   toolchain + "SIMRT_BUILD:STRING=check\n");
  ProjectFindings findings = discover(tree);
  EXPECT_EQ(findings.user_build(), nullptr);
  EXPECT_EQ(findings.instrumented_build(), nullptr);
  ASSERT_NE(findings.check_build(), nullptr);
  EXPECT_EQ(findings.check_build()->path, tree.path("a-check"));
  const config::Config config = suggested_config(findings, config::default_config(tree.root()));
  EXPECT_EQ(config.check_directory, tree.path("a-check"));
  EXPECT_EQ(config.instrumented_directory, tree.path("build-simrt"));
  EXPECT_THAT(config::render_default_toml(config), HasSubstr("\ncheck = \"a-check\"\n"));
  tree.cmake_build(tree.path("b-record"), "/usr/bin/clang++-19", "Clang", "19.1.7",
                   toolchain + "SIMRT_BUILD:STRING=record\n");
  findings = discover(tree);
  EXPECT_EQ(findings.instrumented_build()->path, tree.path("b-record"));
  EXPECT_EQ(findings.check_build()->path, tree.path("a-check"));
  EXPECT_EQ(instrumented_build_command(findings, tree.path("build-check"), true),
            "cmake -S . -B build-check --toolchain \"$(simrt toolchain)\" -DSIMRT_BUILD=check "
            "-DCMAKE_BUILD_TYPE=Debug && cmake --build build-check");
}

TEST(Discover, SourcesOneLevelDown) {
  ProjectTree tree;
  tree.write("cpp/CMakeLists.txt", "project(x)\n");
  tree.cmake_build(tree.path("cpp/build"), "/usr/bin/c++", "GNU", "12.2.0", "", "cpp");
  const ProjectFindings findings = discover(tree);
  EXPECT_THAT(findings.systems, ElementsAre(BuildSystem::CMake));
  EXPECT_THAT(hint_for(findings, "instrumented"), HasSubstr("cmake -S cpp -B build-simrt "));
  EXPECT_EQ(hint_for(findings, "compile database"),
            "cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON " + tree.path("cpp/build"));
}

TEST(Discover, MesonBuild) {
  ProjectTree tree;
  tree.write("meson.build", "project('x', 'cpp')\n");
  tree.write("b/meson-info/meson-info.json",
             R"({"meson_version": {"full": "1.0.1"}, "directories": {"source": ")" + tree.root() +
                 R"(", "build": "x"}})");
  tree.write("b/meson-info/intro-tests.json", R"([{"name": "a", "cmd": ["/x/a"]}])");
  tree.write("b/meson-info/intro-buildoptions.json", R"([{"name": "buildtype", "value": "debugoptimized"}])");
  tree.write(
      "b/meson-logs/meson-log.txt",
      "Build started\nC compiler for the host machine: cc (gcc 12.2.0 \"cc (Debian 12.2.0-14) 12.2.0\")\n"
      "C++ compiler for the host machine: ccache clang++-19 (clang 19.1.7 \"Debian clang version "
      "19.1.7\")\n");
  tree.database(tree.path("b"));
  const ProjectFindings findings = discover(tree);
  EXPECT_THAT(findings.systems, ElementsAre(BuildSystem::Meson));
  ASSERT_EQ(findings.builds.size(), 1u);
  const BuildDirectory& build = findings.builds[0];
  EXPECT_TRUE(build.has_tests);
  EXPECT_EQ(build.build_type, "debugoptimized");
  ASSERT_EQ(build.compilers.size(), 2u);
  EXPECT_EQ(build.compilers[0].family, CompilerFamily::Gcc);
  EXPECT_EQ(build.compilers[1].program, "clang++-19");
  EXPECT_EQ(build.compilers[1].version, "19.1.7");
  EXPECT_EQ(hint_for(findings, "instrumented"),
            "CC=simrt-clang CXX=simrt-clang++ meson setup build-simrt . && meson compile -C build-simrt");
  tree.write("b/meson-info/meson-info.json", "{ damaged");
  EXPECT_THAT(discover(tree).builds, IsEmpty());
}

TEST(Discover, MakefileWithTestTargets) {
  ProjectTree tree;
  tree.write("Makefile", "all: a\ntest := x\ncheck: all\n\t./a\nifdef Y\ncheck: b\nendif\n");
  const ProjectFindings findings = discover(tree);
  EXPECT_THAT(findings.systems, ElementsAre(BuildSystem::Make));
  EXPECT_THAT(findings.make_tests, ElementsAre("check"));
  EXPECT_THAT(hint_for(findings, "compile database"), HasSubstr("bear -- make"));
  tree.database(tree.root());
  EXPECT_EQ(discover(tree).compile_database, tree.path("compile_commands.json"));
}

// make leaves nothing that says what was built how: the programs do.
TEST(Discover, ABuildByHandIsFoundByItsPrograms) {
  ProjectTree tree;
  tree.write("Makefile", "check:\n\t./a\n");
  tree.write("build-simrt/a",
             "\x7f"
             "ELF of some other compiler");
  const std::string program = tree.path("build-simrt/a");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  EXPECT_THAT(hint_for(discover(tree), "instrumented build"), HasSubstr("CC=simrt-clang"));
  tree.write("build-simrt/a",
             "\x7f"
             "ELF with __sancov_guards");
  const ProjectFindings findings = discover(tree);
  EXPECT_EQ(findings.instrumented_by_hand, tree.path("build-simrt"));
  EXPECT_EQ(hint_for(findings, "instrumented build"), "nothing is missing");
}

TEST(Discover, HintForTestsDependsOnTheProject) {
  ProjectTree tree;
  tree.write("CMakeLists.txt", "project(x)\n# enable_testing()\n");
  tree.cmake_build(tree.path("build"));
  EXPECT_THAT(hint_for(discover(tree), "tests known"), HasSubstr("add enable_testing()"));
  tree.write("CMakeLists.txt", "project(x)\nif(X)\n  Enable_Testing ()\nendif()\n");
  EXPECT_THAT(hint_for(discover(tree), "tests known"), HasSubstr("-DBUILD_TESTING=ON"));
}

TEST(Discover, SymlinkLoopsAndDeepTreesEnd) {
  ProjectTree tree;
  tree.write("a/b/c/d/e/f/CMakeCache.txt", "");
  ASSERT_EQ(std::system(("ln -s .. '" + tree.path("a/loop") + "'").c_str()), 0);
  EXPECT_THAT(discover(tree).builds, IsEmpty());
}

TEST(Discover, ReadsWhatCMakeReallyWrites) {
  ProjectTree tree;
  tree.write(
      "CMakeLists.txt",
      "cmake_minimum_required(VERSION 3.20)\nproject(x CXX)\nenable_testing()\nadd_executable(a a.cc)\n"
      "add_test(NAME a COMMAND a)\n");
  tree.write("a.cc", "int main() {}\n");
  const std::string command = "cd '" + tree.root() +
                              "' && cmake -S . -B build -DCMAKE_CXX_COMPILER=clang++-19 "
                              "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON > cmake.log 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const ProjectFindings findings = discover(tree);
  ASSERT_EQ(findings.builds.size(), 1u);
  const BuildDirectory& build = findings.builds[0];
  EXPECT_TRUE(build.has_tests);
  EXPECT_EQ(build.compile_database, tree.path("build/compile_commands.json"));
  ASSERT_EQ(build.compilers.size(), 1u);
  EXPECT_EQ(build.compilers[0].family, CompilerFamily::Clang);
  EXPECT_EQ(build.compilers[0].major(), 19);
  EXPECT_TRUE(build.compilers[0].supported());
}

TEST(SuggestedConfig, FillsInWhatTheUserDidNotSay) {
  ProjectTree tree;
  tree.write("CMakeLists.txt", "project(x)\n");
  tree.cmake_build(tree.path("out"));
  tree.database(tree.path("out"));
  tree.cmake_build(tree.path("sim"), "/usr/bin/simrt-clang++");
  const ProjectFindings findings = discover(tree);
  config::Config config = suggested_config(findings, config::default_config(tree.root()));
  EXPECT_EQ(config.build_directory, tree.path("out"));
  EXPECT_EQ(config.instrumented_directory, tree.path("sim"));
  EXPECT_EQ(config.compile_database, "") << "implied by the build directory";
  EXPECT_TRUE(config.ctest);
  EXPECT_FALSE(config.meson);
  EXPECT_THAT(config::render_default_toml(config), HasSubstr("instrumented = \"sim\""));

  config::Config said = config::default_config(tree.root());
  said.build_directory = tree.path("mine");
  said.origins["build.directory"] = {config::Origin::Kind::Flag, "--build-dir"};
  EXPECT_EQ(suggested_config(findings, said).build_directory, tree.path("mine"));
}

TEST(SuggestedConfig, MakeTargetsBecomeCommands) {
  ProjectTree tree;
  tree.write("Makefile", "check:\n\t./a\n");
  tree.database(tree.root());
  const config::Config config = suggested_config(discover(tree), config::default_config(tree.root()));
  ASSERT_EQ(config.commands.size(), 1u);
  EXPECT_THAT(config.commands[0].command, ElementsAre("make", "check"));
  EXPECT_FALSE(config.ctest);
  EXPECT_EQ(config.compile_database, tree.path("compile_commands.json"));
}

}  // namespace
}  // namespace simrt::project::test
