// Which code a program counter leads to, and whether it is the project's own: a real compiler's debug
// information.
#include "pipeline/execution/symbols.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/subprocess.h"

namespace simrt::pipeline {
namespace {

namespace fs = std::filesystem;

class ProgramOfParts : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "simrt-symbols-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = fs::canonical(pattern).string();
    write("main.c", "void own(void) {}\nint main(void) { return 0; }\n");
    write("third_party/part/deep/part.c", "void submodule(void) {}\n");
    write("third_party/part/.git", "gitdir: elsewhere\n");
    write("build/_deps/fetched.c", "void fetched(void) {}\n");
    write("build/CMakeCache.txt", "");
    run({"clang-19", "-g", "-O0", "-no-pie", "main.c", "third_party/part/deep/part.c",
         "build/_deps/fetched.c", "-o", "program"});
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((fs::path(root_) / name).parent_path());
    std::ofstream(fs::path(root_) / name) << text;
  }
  std::string run(std::vector<std::string> command) {
    const auto result = run_process(
        {.command = std::move(command), .directory = root_, .environment = {}, .unset_environment = {}});
    EXPECT_TRUE(result && result->succeeded()) << (result ? result->output : "not run");
    return result ? result->output : std::string();
  }
  /// The innermost frame of the function's first instructions.
  CodeFrame frame_of(const std::string& function) {
    std::istringstream symbols(run({"nm", "--defined-only", "program"}));
    std::string address, kind, name;
    while (symbols >> address >> kind >> name && name != function) {
    }
    testing::Execution execution;
    execution.modules = {{{root_ + "/program", {}}, true, 0, 1, UINT64_MAX}};
    const auto stack = symbols_for().stack(execution, {std::stoull(address, nullptr, 16) + 1});
    return stack.empty() ? CodeFrame{} : stack.front();
  }
  Symbols& symbols_for() {
    if (!symbols_) symbols_ = std::make_unique<Symbols>(root_, nullptr);
    return *symbols_;
  }

  std::string root_;
  std::unique_ptr<Symbols> symbols_;
};

TEST_F(ProgramOfParts, CodeOfTheProjectHasItsPlaceAndStatement) {
  const CodeFrame frame = frame_of("own");
  EXPECT_TRUE(frame.own());
  EXPECT_EQ(frame.file, "main.c");
  EXPECT_EQ(frame.line, 1U);
  EXPECT_EQ(frame.statement, "voidown(void){}");
}

TEST_F(ProgramOfParts, ASubmoduleAndAFetchedDependencyAreNotTheProjectsOwn) {
  EXPECT_EQ(frame_of("submodule").file, root_ + "/third_party/part/deep/part.c");
  EXPECT_EQ(frame_of("fetched").file, root_ + "/build/_deps/fetched.c");
  EXPECT_FALSE(frame_of("fetched").own());
}

}  // namespace
}  // namespace simrt::pipeline
