// Units of small projects, read from a tree and the disk, with and without precompiled headers.
#include <clang/AST/RecursiveASTVisitor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "analysis/frontend/frontend.h"
#include "frontend_memory_tree.h"
#include "support/task_pool.h"

namespace simrt::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Files = std::map<std::string, std::string>;

// Names of functions with bodies among the traversal scope.
class BodyNames : public clang::RecursiveASTVisitor<BodyNames> {
 public:
  std::set<std::string> names;
  bool VisitFunctionDecl(clang::FunctionDecl* function) {
    if (function->doesThisDeclarationHaveABody()) names.insert(function->getNameAsString());
    return true;
  }
};

struct ParseTest : ::testing::Test {
  ProjectDirectory project;

  Frontend frontend(Files files, const std::vector<std::string>& other = {}, bool cached = false) const {
    return {project.root(), std::make_shared<MemoryTree>(std::move(files)), other,
            cached ? project.cache() : ""};
  }
  static std::set<std::string> bodies(const Frontend& frontend, const CompileCommand& command,
                                      ParseReport* out = nullptr) {
    BodyNames visitor;
    ParseReport report =
        frontend.parse(command, [&](const ParsedUnit& unit) { visitor.TraverseAST(unit.context); });
    if (out != nullptr) *out = std::move(report);
    return visitor.names;
  }
  std::size_t cached_files() const {
    std::error_code error;
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(project.cache(), error))
      count += entry.is_regular_file();
    return count;
  }
};

TEST_F(ParseTest, OnlyBodiesOfTheRepositoryAreRead) {
  project.write("outside/lib.h", "inline int library() { return undeclared_in_a_skipped_body; }\n");
  const Frontend f =
      frontend({{"src/a.cc", "#include <lib.h>\n#include \"h.h\"\nint main_part() { return own(); }\n"},
                {"include/h.h", "inline int own() { return library(); }\n"}});
  ParseReport report;
  const auto names =
      bodies(f, project.command("src/a.cc", {"clang++", "-isystem", project.base() + "/outside"}), &report);
  EXPECT_EQ(report.errors, 0u);
  EXPECT_EQ(names, (std::set<std::string>{"main_part", "own"}));
  EXPECT_THAT(report.files, ElementsAre("src/a.cc", "include/h.h"));
}

TEST_F(ParseTest, HeaderOfTheOtherRevisionIsMissing) {
  project.write("project/include/gone.h", "int gone();\n");
  const Files files{
      {"a.cc", "#if __has_include(\"gone.h\")\n#error still there\n#endif\n#include \"gone.h\"\n"}};
  const Frontend removed = frontend(files, {"include/gone.h"});
  ParseReport report;
  bodies(removed, project.command("a.cc"), &report);
  EXPECT_EQ(report.errors, 1u);
  EXPECT_THAT(report.messages, ElementsAre("a.cc:4:10: 'gone.h' file not found"));
  const Frontend generated = frontend({{"a.cc", "#include \"gone.h\"\nint f() { return gone(); }\n"}});
  bodies(generated, project.command("a.cc"), &report);
  EXPECT_EQ(report.errors, 0u) << "tracked by neither revision, so a generated file";
  EXPECT_THAT(report.files, ElementsAre("a.cc"));
}

TEST_F(ParseTest, GeneratedHeaderOfTheBuildDirectory) {
  project.write("project/build/config.h", "#define ANSWER 42\n");
  const Frontend f =
      frontend({{"a.cc", "#include <config.h>\nstatic_assert(ANSWER == 42);\nint f() { return 0; }\n"}});
  ParseReport report;
  EXPECT_EQ(bodies(f, project.command("a.cc", {"c++", "-I."}), &report), std::set<std::string>{"f"});
  EXPECT_EQ(report.errors, 0u);
}

TEST_F(ParseTest, SymlinkedHeaderCountsWithItsLink) {
  const Frontend f = frontend({{"a.cc", "#include \"alias.h\"\n"},
                               {"include/alias.h", "-> ../real/r.h"},
                               {"real/r.h", "int r();\n"}});
  ParseReport report;
  bodies(f, project.command("a.cc"), &report);
  EXPECT_EQ(report.errors, 0u);
  EXPECT_THAT(report.files, ElementsAre("a.cc", "include/alias.h", "real/r.h"));
}

TEST_F(ParseTest, BrokenCodeIsReportedAndStillRead) {
  const Frontend f =
      frontend({{"a.cc", "int good() { return 1; }\nint bad() { return mu->unlock(); }\nint x = ;\n"}});
  ParseReport report;
  EXPECT_TRUE(bodies(f, project.command("a.cc"), &report).contains("good"));
  EXPECT_EQ(report.errors, 2u);
  EXPECT_THAT(report.messages.at(0), HasSubstr("a.cc:2:20: use of undeclared identifier 'mu'"));
}

TEST_F(ParseTest, MissingSourceAndUselessCommandAreErrorsOfTheUnit) {
  const Frontend f = frontend({{"a.cc", ""}});
  ParseReport report;
  bodies(f, project.command("nosuch.cc"), &report);
  EXPECT_GT(report.errors, 0u);
  EXPECT_THAT(report.files, ElementsAre("nosuch.cc"));
  bodies(f, {"a.cc", project.root(), {}}, &report);
  EXPECT_GT(report.errors, 0u);
  EXPECT_FALSE(report.messages.empty());
}

TEST_F(ParseTest, FlagsOfGccOnlyDoNotMatter) {
  const Frontend f = frontend({{"a.cc", "int f() { return 0; }\n"}});
  ParseReport report;
  const auto command =
      project.command("a.cc", {"/usr/bin/x86_64-linux-gnu-g++-12", "-std=gnu++20", "-fno-ipa-icf-variables",
                               "-fmax-errors=3", "-Wno-cast-function-type", "--param",
                               "max-inline-insns-auto=9", "-fconcepts-diagnostics-depth=2"});
  EXPECT_EQ(bodies(f, command, &report), std::set<std::string>{"f"});
  EXPECT_EQ(report.errors, 0u) << report.messages.at(0);
}

TEST_F(ParseTest, CFileIsC) {
  const Frontend f = frontend({{"a.c",
                                "#include <stdlib.h>\nint new(int class) { return class; }\nvoid* p(void) { "
                                "char* c = malloc(1); return c; }\n"}});
  ParseReport report;
  EXPECT_EQ(bodies(f, project.command("a.c", {"simrt-gcc", "-std=gnu11"}), &report),
            (std::set<std::string>{"new", "p"}));
  EXPECT_EQ(report.errors, 0u) << report.messages.at(0);
}

TEST_F(ParseTest, InstrumentationWrappersParseAsTheirCompiler) {
  const Frontend f = frontend({{"a.cc", "#include <mutex>\nstd::mutex m;\nvoid f() { m.lock(); }\n"}});
  ParseReport report;
  const auto command =
      project.command("a.cc", {"simrt-clang++", "-std=c++20", "-fsanitize=thread",
                               "-fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table", "-pthread"});
  EXPECT_EQ(bodies(f, command, &report), std::set<std::string>{"f"});
  EXPECT_EQ(report.errors, 0u);
}

Files many_units(const std::string& extra = "") {
  Files files;
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    files["u" + n + ".cc"] =
        extra + "#include <cstddef>\n#include <sys.h>\nint f" + n + "() { return sys(); }\n";
  }
  return files;
}

struct PrecompiledTest : ParseTest {
  std::vector<CompileCommand> commands(int count = 4) const {
    std::vector<CompileCommand> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(
          project.command("u" + std::to_string(i) + ".cc", {"g++", "-isystem", project.base() + "/outside"}));
    }
    return all;
  }
  // Parses all units; gives how many used precompiled headers. No unit may have errors.
  int precompiled(Frontend& f, const std::vector<CompileCommand>& units) const {
    f.prepare(units, 1);
    int count = 0;
    for (const CompileCommand& unit : units) {
      ParseReport report;
      EXPECT_EQ(bodies(f, unit, &report).size(), 1u);
      EXPECT_EQ(report.errors, 0u) << report.messages.at(0);
      EXPECT_THAT(report.files, ElementsAre(unit.file));
      count += report.precompiled ? 1 : 0;
    }
    return count;
  }
};

TEST_F(PrecompiledTest, AreMadeForManyUnitsAndKeptForOne) {
  project.write("outside/sys.h", "#pragma once\ninline int sys() { return 1; }\n");
  Frontend one = frontend(many_units(), {}, true);
  EXPECT_EQ(precompiled(one, commands(1)), 0) << "not worth it";
  EXPECT_EQ(cached_files(), 0u);
  Frontend first = frontend(many_units(), {}, true);
  EXPECT_EQ(precompiled(first, commands()), 4);
  EXPECT_EQ(cached_files(), 2u);
  Frontend later = frontend(many_units("// edited\n"), {}, true);
  EXPECT_EQ(precompiled(later, commands(1)), 1);
}

TEST_F(PrecompiledTest, StaleOnesAreMadeAnew) {
  project.write("outside/sys.h", "#pragma once\ninline int sys() { return 1; }\n");
  Frontend first = frontend(many_units(), {}, true);
  EXPECT_EQ(precompiled(first, commands()), 4);
  project.write("outside/sys.h", "#pragma once\ninline long sys() { return 12; }\nextern int changed;\n");
  Frontend few = frontend(many_units(), {}, true);
  EXPECT_EQ(precompiled(few, commands(1)), 0) << "stale, and not worth a new one";
  Frontend second = frontend(many_units("#define CHECK sys\n"), {}, true);
  EXPECT_EQ(precompiled(second, commands()), 4);
  EXPECT_EQ(cached_files(), 2u) << "the old one is gone";
}

TEST_F(PrecompiledTest, DamagedOnesAreNoHarm) {
  project.write("outside/sys.h", "#pragma once\ninline int sys() { return 1; }\n");
  Frontend first = frontend(many_units(), {}, true);
  EXPECT_EQ(precompiled(first, commands()), 4);
  for (const auto& entry : std::filesystem::directory_iterator(project.cache())) {
    if (entry.path().extension() == ".pch") std::filesystem::resize_file(entry.path(), 100);
  }
  Frontend second = frontend(many_units(), {}, true);
  EXPECT_EQ(precompiled(second, commands(1)), 0) << "falls back to a parse without";
  for (const auto& entry : std::filesystem::directory_iterator(project.cache())) {
    if (entry.path().extension() == ".json")
      project.write("cache/" + entry.path().filename().string(), "{\"format\": 1}");
  }
  Frontend third = frontend(many_units(), {}, true);
  EXPECT_EQ(precompiled(third, commands()), 4) << "made anew";
}

TEST_F(PrecompiledTest, MacroThatAHeaderAsksAboutKeepsItsMeaning) {
  project.write("outside/sys.h",
                "#pragma once\n#ifdef WIDE\ninline long sys() { return 1; }\n#else\ninline int sys() { "
                "return 1; }\n#endif\n");
  Files files = many_units();
  files["u0.cc"] =
      "#define WIDE\n#include <cstddef>\n#include <sys.h>\nint f0() { static_assert(sizeof(sys()) == 8); "
      "return sys(); }\n";
  Frontend f = frontend(files, {}, true);
  EXPECT_EQ(precompiled(f, commands()), 4) << "the header itself stays out";
}

TEST_F(PrecompiledTest, HeaderThatDoesNotCompileAloneIsLeftOut) {
  project.write("outside/sys.h", "#pragma once\ninline int sys() { return 1; }\n");
  project.write("outside/needy.h", "#ifndef SETUP\n#error define SETUP first\n#endif\n");
  Files files = many_units();
  files["u0.cc"] = "#ifdef NEVER\n#include <needy.h>\n#endif\n#include <sys.h>\nint f0() { return sys(); }\n";
  Frontend f = frontend(files, {}, true);
  EXPECT_EQ(precompiled(f, commands()), 4);
}

TEST_F(PrecompiledTest, TrackedHeadersAreNeverPrecompiled) {
  project.write("outside/sys.h", "#pragma once\ninline int sys() { return 1; }\n");
  Files files;
  for (int i = 0; i < 4; ++i) {
    files["u" + std::to_string(i) + ".cc"] =
        "#include <sys.h>\n#include <own.h>\nint f() { return own() + sys(); }\n";
  }
  files["include/own.h"] = "inline int own() { return 1; }\n";
  Frontend f = frontend(files, {}, true);
  f.prepare(commands(), 2);
  ParseReport report;
  EXPECT_EQ(bodies(f, commands()[0], &report), (std::set<std::string>{"f", "own"}));
  EXPECT_TRUE(report.precompiled);
  EXPECT_THAT(report.files, ElementsAre("u0.cc", "include/own.h"));
}

TEST_F(ParseTest, ClosureIsThatOfTheParse) {
  const Frontend f = frontend(
      {{"a.cc", "#define USE_B\n#include \"a.h\"\n#include <vector>\nint f() { return broken; }\n"},
       {"include/a.h", "#pragma once\n#ifdef USE_B\n#include \"b.h\"\n#else\n#include \"c.h\"\n#endif\n"},
       {"include/b.h", "#define NAME \"d.h\"\n#include NAME\n"},
       {"include/c.h", ""},
       {"include/d.h", ""}});
  EXPECT_THAT(f.closure(project.command("a.cc")).files,
              ElementsAre("a.cc", "include/a.h", "include/b.h", "include/d.h"));
  EXPECT_THAT(f.closure(project.command("missing.cc")).files, ElementsAre("missing.cc"));
}

TEST_F(ParseTest, ManyThreadsParseAtOnceAndAgree) {
  project.write("outside/sys.h", "#pragma once\ninline int sys() { return 1; }\n");
  Files files;
  std::vector<CompileCommand> units;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "u" + std::to_string(i) + ".cc";
    files[name] =
        "#include <sys.h>\n#include \"shared.h\"\nint f" + std::to_string(i) + "() { return shared(); }\n";
    units.push_back(project.command(name, {"g++", "-isystem", project.base() + "/outside"}));
  }
  files["include/shared.h"] = "inline int shared() { return sys(); }\n";
  Frontend f = frontend(files, {}, true);
  f.prepare(units, 4);
  std::vector<std::set<std::string>> names(units.size());
  run_tasks(units.size(), 4, [&](std::size_t i) { names[i] = bodies(f, units[i]); });
  for (std::size_t i = 0; i < units.size(); ++i) {
    EXPECT_EQ(names[i], (std::set<std::string>{"f" + std::to_string(i), "shared"}));
  }
}

}  // namespace
}  // namespace simrt::analysis
