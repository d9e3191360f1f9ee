// The analysis as the pipeline uses it: commands in, facts of units out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "analysis/analysis.h"
#include "frontend_memory_tree.h"
#include "support/hash.h"

namespace simrt::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Files = std::map<std::string, std::string>;

constexpr const char* kHeader =
    "#pragma once\nstruct Mutex { void lock(); void unlock(); };\nstruct Counter {\n"
    "  void add() { m.lock(); ++n; m.unlock(); }\n  Mutex m;\n  int n = 0;\n};\n";

struct AnalyzerTest : ::testing::Test {
  ProjectDirectory project;

  Files files() const {
    Files result{{"include/counter.h", kHeader}};
    for (int i = 0; i < 4; ++i) {
      const std::string n = std::to_string(i);
      result["u" + n + ".cc"] = "#include \"counter.h\"\nvoid f" + n + "(Counter& c) { c.add(); }\n";
    }
    return result;
  }
  std::vector<CompileCommand> commands() const {
    std::vector<CompileCommand> all;
    for (int i = 0; i < 4; ++i) all.push_back(project.command("u" + std::to_string(i) + ".cc"));
    return all;
  }
  Analyzer analyzer(Files tree, bool cached = false, std::function<bool()> interrupted = {}) const {
    return {{project.root(), cached ? project.cache() : "", std::move(interrupted)},
            std::make_shared<MemoryTree>(std::move(tree)),
            {}};
  }
};

TEST_F(AnalyzerTest, UnitsComeInTheOrderOfTheirCommandsWithFilesAndFacts) {
  std::vector<std::size_t> progress;
  const auto units =
      analyzer(files()).analyse(commands(), 2, [&](std::size_t done, std::size_t total, const std::string&) {
        EXPECT_EQ(total, 4u);
        progress.push_back(done);
      });
  EXPECT_THAT(progress, ElementsAre(1, 2, 3, 4));
  ASSERT_EQ(units.size(), 4u);
  for (std::size_t i = 0; i < units.size(); ++i) {
    EXPECT_EQ(units[i].path, "u" + std::to_string(i) + ".cc");
    EXPECT_EQ(units[i].command, command_hash(commands()[i], project.root()));
    EXPECT_EQ(units[i].errors, 0u);
    ASSERT_EQ(units[i].files.size(), 2u);
    EXPECT_EQ(units[i].files[0].path, units[i].path);
    EXPECT_EQ(units[i].files[1].path, "include/counter.h");
    EXPECT_EQ(units[i].files[1].content, hash_bytes(kHeader));
    EXPECT_EQ(units[i].files[1].declarations, units[0].files[1].declarations);
    EXPECT_EQ(units[i].functions.size(), units[i].points.size());
    EXPECT_GE(units[i].functions.size(), 2u) << "the unit's function and the header's";
  }
}

TEST_F(AnalyzerTest, FactsDoNotDependOnThreadsOrPrecompiledHeaders) {
  Files tree = files();
  for (auto& [path, text] : tree) {
    if (path.ends_with(".cc"))
      text += "#include <mutex>\nstd::mutex m;\nvoid g() { std::lock_guard<std::mutex> l(m); }\n";
  }
  const auto plain = analyzer(tree).analyse(commands(), 1);
  EXPECT_EQ(plain, analyzer(tree).analyse(commands(), 4));
  EXPECT_EQ(plain, analyzer(tree, true).analyse(commands(), 2)) << "made now";
  EXPECT_EQ(plain, analyzer(tree, true).analyse(commands(), 1)) << "made before";
}

TEST_F(AnalyzerTest, DeclarationsTellBodyEditsFromOthers) {
  const auto digest = [&](const std::string& from, const std::string& to) {
    Files changed = files();
    std::string& header = changed["include/counter.h"];
    header.replace(header.find(from), from.size(), to);
    const auto units = analyzer(changed).analyse({commands()[0]}, 1);
    EXPECT_EQ(units[0].errors, 0u);
    return units[0].files[1];
  };
  const FileFacts base = digest("++n", "++n");
  EXPECT_NE(base.content, digest("++n", "n += 2").content);
  EXPECT_EQ(base.declarations, digest("++n", "n += 2").declarations);
  EXPECT_NE(base.declarations, digest("int n", "long n").declarations);
}

TEST_F(AnalyzerTest, UnitsThatFailSaySo) {
  Files tree = files();
  tree["u1.cc"] += "int broken = ;\n";
  tree.erase("u2.cc");
  auto all = commands();
  all[3].arguments.clear();
  const auto units = analyzer(tree).analyse(all, 2);
  EXPECT_EQ(units[0].errors, 0u);
  EXPECT_EQ(units[1].errors, 1u);
  EXPECT_THAT(units[1].messages.at(0), HasSubstr("u1.cc:3:14"));
  EXPECT_GT(units[2].errors, 0u);
  EXPECT_GT(units[3].errors, 0u);
  for (const UnitFacts& unit : units) {
    EXPECT_EQ(unit.errors > 0, !unit.messages.empty());
    EXPECT_EQ(unit.files.at(0).path, unit.path);
  }
}

// A file of the disk that has the same name in another directory: it parses, and says nothing of the one that
// is asked for.
TEST_F(AnalyzerTest, ACommandThatCompilesAnotherFileSaysSo) {
  project.write("elsewhere/u0.cc", "void other() {}\n");
  CompileCommand command{"u0.cc", project.base() + "/elsewhere", {"g++", "-std=c++20", "-c", "u0.cc"}};
  const auto units = analyzer(files()).analyse({command}, 1);
  EXPECT_EQ(units[0].errors, 1u);
  EXPECT_THAT(units[0].messages, ElementsAre(HasSubstr("not of this repository")));
}

TEST_F(AnalyzerTest, InterruptLeavesTheRestOut) {
  std::atomic<int> asked{0};
  const auto units = analyzer(files(), false, [&] { return ++asked > 2; }).analyse(commands(), 1);
  EXPECT_EQ(units[0].errors, 0u);
  EXPECT_GT(units[3].errors, 0u);
  EXPECT_THAT(units[3].messages, ElementsAre("interrupted"));
  EXPECT_EQ(units[3].path, "u3.cc");
  const auto closures = analyzer(files(), false, [] { return true; }).closures(commands(), 1);
  ASSERT_FALSE(closures);
  EXPECT_EQ(closures.error().code, ErrorCode::Interrupted);
}

TEST_F(AnalyzerTest, ClosuresNameMainSourceFirst) {
  const auto closures = analyzer(files()).closures(commands(), 2);
  ASSERT_TRUE(closures);
  EXPECT_THAT(closures->at(2), ElementsAre("u2.cc", "include/counter.h"));
}

/// What a parse may have depended on, and changes of it.
struct Dependency {
  const char* what;
  Files tree;                                             ///< further or other files of the revision
  std::vector<std::pair<std::string, std::string>> disk;  ///< written below the project
};

TEST_F(AnalyzerTest, AnswersDifferWhenAParseCouldSeeSomethingElse) {
  Files before = files();
  before["u0.cc"] =
      "#include \"counter.h\"\n#if __has_include(\"generated.h\")\n#include \"generated.h\"\n"
      "#endif\nvoid f0(Counter& c) { c.add(); }\n";
  before["unrelated.cc"] = "int a;\n";
  const std::vector<CompileCommand> all{
      project.command("u0.cc", {"g++", "-std=c++20", "-I../include", "-Igenerated"})};
  std::vector<Questions> questions;
  ASSERT_EQ(analyzer(before).analyse(all, 1, {}, &questions)[0].errors, 0u);
  const std::uint64_t answers = analyzer(before).answers(questions[0]);

  Files other = before;
  other["unrelated.cc"] = "int b;\n";
  other["new.h"] = "int c;\n";
  EXPECT_EQ(analyzer(other).answers(questions[0]), answers) << "nothing that it asked about";

  const std::vector<Dependency> dependencies = {
      {"its source", {{"u0.cc", before["u0.cc"] + "int x;\n"}}, {}},
      {"a header", {{"include/counter.h", std::string(kHeader) + "\n"}}, {}},
      {"a header that is found before another", {{"counter.h", kHeader}}, {}},
      {"a header that becomes generated", {}, {{"build/generated/generated.h", "int y;\n"}}},
  };
  for (const Dependency& dependency : dependencies) {
    Files tree = before;
    for (const auto& [path, text] : dependency.tree) tree[path] = text;
    for (const auto& [path, text] : dependency.disk) project.write("project/" + path, text);
    const std::uint64_t now = analyzer(tree).answers(questions[0]);
    EXPECT_NE(now, answers) << dependency.what;
  }
}

TEST_F(AnalyzerTest, ACrashIsSaidAndAsksNothing) {
  Files tree{{"u0.cc", "#pragma clang __debug parser_crash\nint f();\n"},
             {"u1.cc", "int g() { return 1; }\n"}};
  std::vector<Questions> questions;
  const auto units =
      analyzer(tree).analyse({project.command("u0.cc"), project.command("u1.cc")}, 1, {}, &questions);
  EXPECT_GT(units[0].errors, 0u);
  EXPECT_THAT(units[0].messages.at(0), HasSubstr("u0.cc: clang crashed"));
  EXPECT_TRUE(questions[0].empty()) << "a cache would keep the crash";
  EXPECT_EQ(units[1].errors, 0u) << "the next unit is not harmed";
  EXPECT_FALSE(questions[1].empty());
}

TEST_F(AnalyzerTest, AUnitThatLacksAFileAsksForIt) {
  Files tree{{"u0.cc", "#include \"late.h\"\nint f() { return kLate; }\n"}};
  std::vector<Questions> questions;
  const std::vector<CompileCommand> all{project.command("u0.cc", {"g++", "-Igenerated"})};
  ASSERT_GT(analyzer(tree, true).analyse(all, 1, {}, &questions)[0].errors, 0u);
  const std::uint64_t answers = analyzer(tree).answers(questions[0]);
  EXPECT_EQ(analyzer(tree).answers(questions[0]), answers);
  project.write("project/build/generated/late.h", "constexpr int kLate = 1;\n");
  EXPECT_NE(analyzer(tree).answers(questions[0]), answers);
}

TEST_F(AnalyzerTest, FactsOfAFunctionDoNotDependOnWhatElseItsUnitUses) {
  const Files tree{
      {"include/owner.h",
       "#pragma once\n#include <utility>\n#include <vector>\nstruct Step { int n = 0; ~Step() { n = 0; } };\n"
       "struct Owner { std::vector<std::pair<int, Step>> steps; ~Owner() = default; };\n"},
      {"u0.cc", "#include \"owner.h\"\nint f() { Owner o; return o.steps[0].first; }\n"},
      {"u1.cc", "#include \"owner.h\"\nvoid g() { Owner o; }\n"}};
  // From C++20 on, std::vector is constexpr, and Clang needs its members everywhere.
  const std::vector<std::string> flags{"g++", "-std=c++17"};
  const auto units =
      analyzer(tree).analyse({project.command("u0.cc", flags), project.command("u1.cc", flags)}, 1);
  std::vector<FunctionFacts> destructors;
  for (const UnitFacts& unit : units)
    for (const FunctionFacts& function : unit.functions)
      if (function.name == "Owner::~Owner") destructors.push_back(function);
  ASSERT_EQ(destructors.size(), 2u);
  EXPECT_EQ(destructors[0], destructors[1]) << "only one of them needed std::pair's members";
  bool destroys_steps = false;
  for (const Block& block : destructors[1].blocks)
    for (const Element& element : block.elements)
      for (const Event& event : element.events)
        if (const auto* call = std::get_if<Call>(&event.what)) destroys_steps |= call->name == "Step::~Step";
  EXPECT_TRUE(destroys_steps);
}

}  // namespace
}  // namespace simrt::analysis
