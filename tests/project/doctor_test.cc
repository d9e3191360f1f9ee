#include "pipeline/project/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "project_tree.h"

namespace simrt::project::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Check check(const ProjectTree& tree, const config::Config& config, std::string_view name) {
  for (const Check& check : doctor_checks(tree.root(), config)) {
    if (check.name == name) return check;
  }
  ADD_FAILURE() << "no check " << name;
  return {};
}

/// A project that has all it needs, except where a test takes something away.
class Doctor : public ::testing::Test {
 protected:
  void SetUp() override {
    tree_.write(".git/HEAD", "ref: refs/heads/main\n");
    tree_.write(".gitignore", "/build-simrt/\n.simrt\n");
    tree_.write(".simrt.toml");
    tree_.write("CMakeLists.txt", "project(x)\n");
    tree_.cmake_build(tree_.path("build"));
    tree_.database(tree_.path("build"));
    tree_.cmake_build(tree_.path("build-simrt"), "/usr/bin/simrt-clang++");
    tree_.ctest(tree_.path("build-simrt"));
    tree_.write(".simrt/history.db", "SQLite");
    tree_.write("a.cc", "int main() {}\n");
    config_ = config::default_config(tree_.root());
    config_.file = tree_.path(".simrt.toml");
    compile("clang++-19 -fsanitize-coverage=trace-pc-guard,pc-table -c a.cc -o build-simrt/a.o");
    tree_.write(
        "rt.c",
        "void __sanitizer_cov_trace_pc_guard_init(void) {}\nvoid __sanitizer_cov_trace_pc_guard(void) {}\n"
        "void __sanitizer_cov_pcs_init(void) {}\n");
    compile(
        "clang-19 -c rt.c -o build-simrt/rt.o && clang++-19 build-simrt/a.o build-simrt/rt.o -o "
        "build-simrt/a");
  }
  void compile(const std::string& command) {
    ASSERT_EQ(std::system(("cd '" + tree_.root() + "' && " + command).c_str()), 0);
  }
  void remove(const std::string& name) { ASSERT_TRUE(remove_tree(tree_.path(name))); }
  Check check(std::string_view name) { return test::check(tree_, config_, name); }

  ProjectTree tree_;
  config::Config config_;
};

TEST_F(Doctor, CompleteProjectPasses) {
  const auto checks = doctor_checks(tree_.root(), config_);
  EXPECT_GE(checks.size(), 10u);
  for (const Check& check : checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
    EXPECT_FALSE(check.detail.empty()) << check.name;
    EXPECT_THAT(check.hint, IsEmpty()) << check.name;
  }
}

TEST(DoctorOfNothing, EveryFailureHasAHint) {
  ProjectTree tree;
  const auto checks = doctor_checks(tree.root(), config::default_config(tree.root()));
  EXPECT_THAT(std::count_if(checks.begin(), checks.end(), [](const Check& check) { return !check.ok; }), 10);
  for (const Check& check : checks) EXPECT_EQ(check.ok, check.hint.empty()) << check.name;
}

TEST_F(Doctor, ShallowClone) {
  tree_.write(".git/shallow", "abc\n");
  EXPECT_EQ(check("git repository").hint, "git fetch --unshallow");
}

TEST_F(Doctor, NoConfiguration) {
  config_.file.clear();
  EXPECT_EQ(check("configuration").hint, "simrt init");
}

TEST_F(Doctor, CompileDatabase) {
  config_.compile_database = tree_.path("build/other.json");
  EXPECT_THAT(check("compile database").detail, HasSubstr("build/other.json cannot be read"));
  tree_.write("build/other.json", "[]");
  EXPECT_THAT(check("compile database").detail, HasSubstr("names no source"));
  config_.compile_database.clear();
  remove("build/compile_commands.json");
  EXPECT_THAT(check("compile database").hint, HasSubstr("-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"));
}

TEST_F(Doctor, CompileDatabaseOfABuildByHand) {
  remove("build");
  remove("build-simrt");
  remove("CMakeLists.txt");
  tree_.database(tree_.path("build-simrt"));
  const Check database = check("compile database");
  EXPECT_TRUE(database.ok) << database.detail;
  EXPECT_THAT(database.detail, HasSubstr("build-simrt/compile_commands.json"));
}

TEST_F(Doctor, UnsupportedCompiler) {
  tree_.cmake_build(tree_.path("build"), "/usr/bin/g++-9", "GNU", "9.4.0");
  const Check compiler = check("compiler");
  EXPECT_FALSE(compiler.ok);
  EXPECT_THAT(compiler.detail, HasSubstr("/usr/bin/g++-9 9.4.0"));
  EXPECT_THAT(compiler.hint, HasSubstr("clang-19"));
}

TEST_F(Doctor, InstrumentedBuildMissingOrOrdinary) {
  tree_.cmake_build(tree_.path("build-simrt"), "/usr/bin/clang++-19");
  EXPECT_THAT(check("instrumented build").detail, HasSubstr("ordinary compiler"));
  EXPECT_THAT(check("instrumented build").hint, HasSubstr("rm -r build-simrt && cmake -S . -B build-simrt"));
  remove("build-simrt");
  EXPECT_THAT(check("instrumented build").detail, HasSubstr("does not exist"));
  tree_.cmake_build(tree_.path("elsewhere"), "/usr/bin/simrt-clang++");
  EXPECT_THAT(check("instrumented build").hint, HasSubstr("build.instrumented = \"elsewhere\""));
}

TEST_F(Doctor, InstrumentedProgramsMustReallyBe) {
  compile("clang++-19 a.cc -o build-simrt/a && rm build-simrt/*.o");
  EXPECT_FALSE(check("instrumented programs").ok) << "linked, but without the callbacks";
  EXPECT_EQ(check("instrumented programs").hint, "cmake --build build-simrt");
  compile(
      "g++-12 -fsanitize-coverage=trace-pc -c a.cc -o a.o && echo 'void __sanitizer_cov_trace_pc(void){}' > "
      "t.c && "
      "gcc-12 -c t.c -o t.o && g++-12 a.o t.o -o build-simrt/a && rm a.o t.o");
  EXPECT_TRUE(check("instrumented programs").ok) << "gcc";
}

TEST_F(Doctor, ACheckBuildIsOptionalButMustBeOne) {
  EXPECT_TRUE(check("check build").ok) << "selecting needs none";
  EXPECT_THAT(check("check build").detail,
              HasSubstr("none; simrt check needs one: cmake -S . -B build-check"));
  tree_.cmake_build(tree_.path("build-check"), "/usr/bin/clang++-19");
  EXPECT_FALSE(check("check build").ok);
  EXPECT_THAT(check("check build").hint, HasSubstr("-DSIMRT_BUILD=check"));
  EXPECT_THAT(check("git ignore rules").hint, HasSubstr("/build-check/"));
  tree_.cmake_build(tree_.path("build-check"), "/usr/bin/clang++-19", "Clang", "19.1.7",
                    "CMAKE_TOOLCHAIN_FILE:FILEPATH=/usr/share/simrt/simrt-toolchain.cmake\n"
                    "SIMRT_BUILD:STRING=check\n");
  EXPECT_TRUE(check("check build").ok);
}

TEST_F(Doctor, Tests) {
  remove("build-simrt/sub/CTestTestfile.cmake");
  EXPECT_THAT(check("tests").hint, HasSubstr("[[tests.command]]"));
  config_.commands = {{"smoke", {"./a"}, tree_.path("build-simrt"), 0, {}}};
  EXPECT_TRUE(check("tests").ok);
}

TEST_F(Doctor, HistoryAndIgnoreRules) {
  remove(".simrt");
  EXPECT_EQ(check("history").hint, "simrt record");
  tree_.write(".gitignore", "# /build-simrt/\n");
  EXPECT_THAT(check("git ignore rules").hint, HasSubstr("/.simrt/ /build-simrt/ >> .gitignore"));
  tree_.write(".git/info/exclude", "build-*/\n.simrt/*\n");
  EXPECT_TRUE(check("git ignore rules").ok);
}

}  // namespace
}  // namespace simrt::project::test
