// Compile databases as CMake, Meson and hand-written scripts make them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/frontend/command_line.h"
#include "analysis/frontend/compile_commands.h"
#include "frontend_memory_tree.h"

namespace simrt::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct CompileCommandsTest : ::testing::Test {
  ProjectDirectory project;
  std::vector<CompileCommand> load(const std::string& json) const {
    project.write("project/build/compile_commands.json", json);
    const auto commands =
        load_compile_commands(project.root() + "/build/compile_commands.json", project.root());
    EXPECT_TRUE(commands) << commands.error().message;
    return commands.value_or(std::vector<CompileCommand>{});
  }
};

TEST_F(CompileCommandsTest, BothFormsOfAnEntryWithPathsMadeRepositoryRelative) {
  const std::string build = project.root() + "/build";
  const auto commands =
      load(R"([
    {"directory": ")" +
           build + R"(", "file": "../src/b.cc", "command": "g++ -DX=\"a b\" -c '../src/b.cc'"},
    {"directory": ")" +
           build + R"(", "file": ")" + project.root() + R"(/src/a.c", "arguments": ["cc", "-c", "a.c"]},
    {"directory": "/elsewhere", "file": "gen.cc", "command": "c++ gen.cc"},
    {"directory": "/elsewhere", "file": "boot.s", "command": "as boot.s"}])");
  ASSERT_EQ(commands.size(), 3u) << "assembler is no unit";
  EXPECT_EQ(commands[0].file, "/elsewhere/gen.cc");
  EXPECT_EQ(commands[1].file, "src/a.c");
  EXPECT_EQ(commands[2].file, "src/b.cc");
  EXPECT_EQ(commands[2].directory, build);
  EXPECT_THAT(commands[2].arguments, ElementsAre("g++", "-DX=a b", "-c", "../src/b.cc"));
}

TEST_F(CompileCommandsTest, SymlinkedRootIsTheSameRepository) {
  std::filesystem::create_directory_symlink(project.root(), project.base() + "/link");
  project.write("project/src/a.cc", "");
  const std::string json =
      R"([{"directory": ")" + project.base() + R"(/link", "file": "src/a.cc", "command": "g++ src/a.cc"}])";
  EXPECT_EQ(load(json)[0].file, "src/a.cc");
}

// A build in a linked work tree compiles the same files. A work tree that only contains this one says
// nothing.
TEST_F(CompileCommandsTest, CommandsOfAnotherWorkTreeAreMovedHere) {
  const std::string root = project.root(), there = root + "/build-simrt";
  project.write("project/.git/worktrees/build-simrt/gitdir", there + "/.git\n");
  project.write("project/build-simrt/.git", "gitdir: " + root + "/.git/worktrees/build-simrt\n");
  project.write("project/.git/worktrees/build-simrt/commondir", "../..\n");
  const std::string json = R"([
    {"directory": ")" + there +
                           R"(/lib", "file": "../src/a.c",
     "arguments": ["cc", "-I)" +
                           there + R"(/include", "-I)" + there + R"(-not", "-c", "../src/a.c"]},
    {"directory": ")" + root +
                           R"(", "file": "src/b.c", "arguments": ["cc", "-c", "src/b.c"]}])";
  const auto commands = load(json);
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].file, "src/a.c");
  EXPECT_EQ(commands[0].directory, root + "/lib");
  EXPECT_THAT(commands[0].arguments,
              ElementsAre("cc", "-I" + root + "/include", "-I" + there + "-not", "-c", "../src/a.c"));
  EXPECT_EQ(commands[1].file, "src/b.c");

  // Seen from the linked one, the other way round.
  const auto from_there = load_compile_commands(root + "/build/compile_commands.json", there);
  ASSERT_TRUE(from_there);
  ASSERT_EQ(from_there->size(), 2u);
  EXPECT_EQ((*from_there)[0].file, "src/a.c");
  EXPECT_EQ((*from_there)[0].directory, there + "/lib");
  EXPECT_EQ((*from_there)[1].file, "src/b.c");
  EXPECT_EQ((*from_there)[1].directory, there);
}

TEST_F(CompileCommandsTest, WhatABuildElsewhereMadeStaysThere) {
  const std::string root = project.root(), linked = project.base() + "/project-wt";
  project.write("project/.git/worktrees/wt/gitdir", linked + "/.git\n");
  project.write("project/.git/worktrees/wt/commondir", "../..\n");
  project.write("project-wt/.git", "gitdir: " + root + "/.git/worktrees/wt\n");
  project.write("project/build/compile_commands.json",
                R"([{"directory": ")" + root + R"(/build", "file": ")" + root + R"(/src/a.c", "arguments":
    ["cc", "-I)" + root +
                    R"(/build/gen", "-I)" + root + R"(/include", "-DAT=\")" + root + R"(/x:)" + root +
                    R"(\"", "-I/opt)" + root + R"(/y", "-c", ")" + root + R"(/src/a.c"]}])");
  const auto commands = load_compile_commands(root + "/build/compile_commands.json", linked);
  ASSERT_TRUE(commands);
  ASSERT_EQ(commands->size(), 1u);
  const CompileCommand& command = commands->front();
  EXPECT_EQ(command.file, "src/a.c");
  EXPECT_EQ(command.directory, root + "/build");
  EXPECT_THAT(command.arguments, ElementsAre("cc", "-I" + root + "/build/gen", "-I" + linked + "/include",
                                             "-DAT=\"" + linked + "/x:" + linked + "\"",
                                             "-I/opt" + root + "/y", "-c", linked + "/src/a.c"));
}

TEST_F(CompileCommandsTest, LaunchersGoAndResponseFilesAreExpanded) {
  project.write("project/build/flags.rsp", "-DFROM_FILE -I'a dir'\n");
  const auto commands =
      load(R"([{"directory": ")" + project.root() +
           R"(/build", "file": "a.cc", "command": "/usr/bin/ccache g++ @flags.rsp -c a.cc"}])");
  EXPECT_THAT(commands[0].arguments, ElementsAre("g++", "-DFROM_FILE", "-Ia dir", "-c", "a.cc"));
  EXPECT_THAT(without_launcher({"env", "LANG=C", "A=b", "clang++", "-DX=1"}),
              ElementsAre("clang++", "-DX=1"));
}

TEST_F(CompileCommandsTest, FirstCommandOfAFileCounts) {
  const auto commands = load(R"([
    {"directory": "/d", "file": "a.cc", "command": "g++ -DFIRST a.cc"},
    {"directory": "/d", "file": "a.cc", "command": "g++ -DSECOND a.cc"}])");
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0].arguments[1], "-DFIRST");
}

TEST_F(CompileCommandsTest, BadDatabasesAreErrorsWithAWayOut) {
  for (const char* text : {"", "{", "{}", "[]", "[1, {\"file\": 3}]"}) {
    project.write("project/build/compile_commands.json", text);
    const auto commands =
        load_compile_commands(project.root() + "/build/compile_commands.json", project.root());
    ASSERT_FALSE(commands) << text;
    EXPECT_EQ(commands.error().code, ErrorCode::Project);
    EXPECT_FALSE(commands.error().hint.empty());
  }
  EXPECT_FALSE(load_compile_commands(project.root() + "/nowhere.json", project.root()));
}

TEST_F(CompileCommandsTest, FindsTheDatabase) {
  const auto none = find_compile_commands(project.root());
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().hint, HasSubstr("CMAKE_EXPORT_COMPILE_COMMANDS"));
  project.write("project/out/release/compile_commands.json", "[]");
  project.write("project/.cache/compile_commands.json", "[]");
  EXPECT_EQ(find_compile_commands(project.root()).value(),
            project.root() + "/out/release/compile_commands.json");
  project.write("project/build/compile_commands.json", "[]");
  EXPECT_EQ(find_compile_commands(project.root()).value(), project.root() + "/build/compile_commands.json");
}

TEST_F(CompileCommandsTest, HashFollowsTheMeaningOfTheCommand) {
  const auto hash = [&](std::vector<std::string> arguments) {
    return command_hash({"a.cc", project.root() + "/build", std::move(arguments)}, project.root());
  };
  const auto base = hash({"g++", "-O2", "-DA", "-c", "a.cc"});
  EXPECT_EQ(base, hash({"/usr/bin/simrt-g++", "-O2", "-DA", "-Wall", "-Werror=x", "-g", "-MD", "-MF", "a.d",
                        "-o", "other.o", "-fsanitize-coverage=bb,trace-pc-guard", "-fsanitize=thread",
                        "--coverage", "-c", "a.cc"}));
  EXPECT_NE(base, hash({"g++", "-O2", "-DB", "-c", "a.cc"}));
  EXPECT_NE(base, hash({"g++", "-O0", "-DA", "-c", "a.cc"}));
  EXPECT_NE(base, hash({"gcc", "-O2", "-DA", "-c", "a.cc"}));
  EXPECT_NE(base, hash({"g++", "-O2", "-DA", "-I../x", "-c", "a.cc"}));
  // Another checkout of the same project.
  EXPECT_EQ(command_hash({"a.cc", "/one/build", {"g++", "-I/one/include", "a.cc"}}, "/one"),
            command_hash({"a.cc", "/two/build", {"g++", "-I/two/include", "a.cc"}}, "/two"));
  EXPECT_NE(command_hash({"a.cc", "/one", {"g++", "-I/one/include"}}, "/one"),
            command_hash({"a.cc", "/one", {"g++", "-I/oneself/include"}}, "/one"));
}

TEST(CommandLineTest, KeepsWhatDecidesHowTheSourceIsRead) {
  EXPECT_THAT(
      parsing_flags({"-std=c++20", "-isystem", "/x", "-include", "pre.h", "-pthread", "-fno-exceptions",
                     "-m32", "-Wp,-D_FORTIFY_SOURCE=2,-MD,x.d", "-Xclang", "-fopenmp-x"}),
      ElementsAre("-std=c++20", "-isystem", "/x", "-include", "pre.h", "-pthread", "-fno-exceptions", "-m32",
                  "-D_FORTIFY_SOURCE=2", "-Xclang", "-fopenmp-x"));
}

TEST(CommandLineTest, DropsOutputsInstrumentationAndEverythingThatLoadsCode) {
  EXPECT_THAT(parsing_flags({"-o",
                             "x.o",
                             "-ofile",
                             "-MF",
                             "d",
                             "-MMD",
                             "-Wall",
                             "-fprofile-arcs",
                             "-fplugin=evil.so",
                             "-Xclang",
                             "-load",
                             "-Xclang",
                             "evil.so",
                             "-mllvm",
                             "-debug",
                             "-Xclang",
                             "-include-pch",
                             "-Xclang",
                             "user.pch",
                             "-Xclang",
                             "-include",
                             "-Xclang",
                             "user.h",
                             "-flto=auto",
                             "@missing.modmap",
                             "-lm",
                             "-L",
                             "/lib",
                             "-Xclang"}),
              ElementsAre("-Xclang", "-include", "-Xclang", "user.h"));
}

}  // namespace
}  // namespace simrt::analysis
