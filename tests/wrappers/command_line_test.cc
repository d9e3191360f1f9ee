// What a compiler command asks for.
#include "wrappers/command_line.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace simrt::wrappers {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Words = std::vector<std::string>;

Action action_of(const Words& words) { return parse_command_line(words).action; }

TEST(CommandLine, Actions) {
  EXPECT_EQ(action_of({"-c", "a.cc"}), Action::Compile);
  EXPECT_EQ(action_of({"-S", "a.cc", "-o", "a.s"}), Action::Compile);
  EXPECT_EQ(action_of({"a.cc", "-o", "a"}), Action::CompileAndLink);
  EXPECT_EQ(action_of({"a.o", "b.o", "-o", "a"}), Action::Link);
  EXPECT_EQ(action_of({"a.o", "b.cc"}), Action::CompileAndLink);
  EXPECT_EQ(action_of({"-o", "a", "-lfoo"}), Action::Link);
  EXPECT_EQ(action_of({"-E", "a.cc"}), Action::Preprocess);
  EXPECT_EQ(action_of({"-M", "a.cc"}), Action::Preprocess);
  EXPECT_EQ(action_of({"-MD", "-c", "a.cc"}), Action::Compile);
  EXPECT_EQ(action_of({"-fsyntax-only", "a.cc"}), Action::Preprocess);
  EXPECT_EQ(action_of({"-x", "c++-header", "all.h", "-o", "all.h.pch"}), Action::Compile);
  EXPECT_EQ(action_of({"all.hpp"}), Action::Compile);
}

TEST(CommandLine, QuestionsAreNotBuilds) {
  for (const Words& words : std::vector<Words>{{},
                                               {"--version"},
                                               {"-v"},
                                               {"-###", "a.cc"},
                                               {"-dumpmachine"},
                                               {"-print-prog-name=ld"},
                                               {"--print-search-dirs"},
                                               {"--help"},
                                               {"-V"},
                                               {"-qversion"},
                                               {"-O2", "-Wall"}}) {
    EXPECT_EQ(action_of(words), Action::Information) << ::testing::PrintToString(words);
  }
}

TEST(CommandLine, ValuesAreNotInputs) {
  const CommandLine line =
      parse_command_line({"-I", "a.cc", "-include", "b.h", "-Xlinker", "c.o", "-MF", "d.c", "-D", "e.cc",
                          "-isystem", "f.c", "-c", "real.cc", "-o", "out.o"});
  ASSERT_THAT(line.inputs, SizeIs(1));
  EXPECT_EQ(line.inputs[0].path, "real.cc");
  EXPECT_EQ(line.inputs[0].position, 13u);
  EXPECT_EQ(line.output, "out.o");
}

TEST(CommandLine, LanguageByNameAndByOption) {
  const auto language = [](const Words& words) { return parse_command_line(words).inputs.at(0).language; };
  EXPECT_EQ(language({"-c", "a.C"}), Language::Code);
  EXPECT_EQ(language({"-c", "dir.d/a"}), Language::Object);
  EXPECT_EQ(language({"-c", "a.S"}), Language::Assembly);
  EXPECT_EQ(language({"-c", "a.cu"}), Language::Other);
  EXPECT_EQ(language({"-xc++", "-c", "a.txt"}), Language::Code);
  EXPECT_EQ(language({"-x", "assembler", "-c", "a.c"}), Language::Assembly);
  EXPECT_EQ(language({"-x", "c", "-c", "-"}), Language::Code);
  const CommandLine line = parse_command_line({"-x", "c", "one", "-x", "none", "two.o"});
  EXPECT_EQ(line.inputs[0].language, Language::Code);
  EXPECT_EQ(line.inputs[1].language, Language::Object);
}

TEST(CommandLine, LinkKinds) {
  EXPECT_TRUE(parse_command_line({"-shared", "a.o"}).shared);
  EXPECT_TRUE(parse_command_line({"-r", "a.o"}).relocatable);
  EXPECT_TRUE(parse_command_line({"-Wl,-O1,-r", "a.o"}).relocatable);
  EXPECT_FALSE(parse_command_line({"-Wl,-rpath,/x", "a.o"}).relocatable);
  EXPECT_TRUE(parse_command_line({"-static-pie", "a.o"}).statically);
  EXPECT_FALSE(parse_command_line({"-static-libgcc", "a.o"}).statically);
  EXPECT_TRUE(parse_command_line({"-m32", "a.o"}).foreign_target);
  EXPECT_TRUE(parse_command_line({"-target", "aarch64-linux-gnu", "a.o"}).foreign_target);
  EXPECT_TRUE(parse_command_line({"-fsanitize=thread", "a.o"}).user_sanitizer);
  EXPECT_FALSE(parse_command_line({"-fsanitize-coverage=trace-pc", "a.o"}).user_sanitizer);
  EXPECT_TRUE(parse_command_line({"-Wl,--whole-archive,/x/libsimrt_cover.a", "a.o"}).linked_with_runtime);
}

TEST(CommandLine, DebugOptions) {
  const auto debug = [](const Words& words) {
    const CommandLine line = parse_command_line(words);
    return std::pair(line.has_debug_option, line.debug_information);
  };
  EXPECT_EQ(debug({"a.c"}), std::pair(false, false));
  EXPECT_EQ(debug({"-g", "a.c"}), std::pair(true, true));
  EXPECT_EQ(debug({"-g", "-g0", "a.c"}), std::pair(true, false));
  EXPECT_EQ(debug({"-g0", "-ggdb3", "a.c"}), std::pair(true, true));
  for (const char* lines : {"-g1", "-ggdb1", "-gmlt", "-gline-tables-only"})
    EXPECT_EQ(debug({"-g", lines, "a.c"}), std::pair(true, false)) << lines;
  EXPECT_EQ(debug({"-gz", "a.c"}), std::pair(false, false));
}

TEST(CommandLine, ResponseFiles) {
  EXPECT_THAT(split_response_file("-c 'a b.cc'\n-DX=\"1 2\" c\\ d \"\""),
              ElementsAre("-c", "a b.cc", "-DX=1 2", "c d", ""));
  EXPECT_THAT(split_response_file(" \n\t"), IsEmpty());

  std::string directory = (std::filesystem::temp_directory_path() / "simrt-rsp-XXXXXX").string();
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  std::ofstream(directory + "/one.rsp") << "-c @" << directory << "/two.rsp";
  std::ofstream(directory + "/two.rsp") << "a.cc -o 'my a.o'";
  std::ofstream(directory + "/loop.rsp") << "@" << directory << "/loop.rsp";
  const CommandLine line = parse_command_line({"@" + directory + "/one.rsp"});
  EXPECT_EQ(line.action, Action::Compile);
  EXPECT_TRUE(line.response_files);
  EXPECT_EQ(line.inputs.at(0).path, "a.cc");
  EXPECT_EQ(line.output, "my a.o");
  EXPECT_EQ(parse_command_line({"-c", "@" + directory + "/loop.rsp"}).action, Action::Compile);  // ends
  EXPECT_FALSE(
      parse_command_line({"-c", "@" + directory + "/missing"}).response_files);  // the compiler will say so
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace simrt::wrappers
