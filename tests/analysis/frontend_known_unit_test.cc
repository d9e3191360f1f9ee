// Parsing a unit of which a recording knows most: only bodies in changed files are looked at, and the facts
// are those of a whole parse all the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "analysis/analysis.h"
#include "frontend_memory_tree.h"
#include "support/hash.h"

namespace simrt::analysis {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using Sources = std::map<std::string, std::string>;

constexpr const char* kCounter =
    "#pragma once\n#include <mutex>\n#include <vector>\n#include <utility>\n"
    "struct Step { int n = 0; ~Step() { n = 0; } };\n"
    "struct Counter {\n"
    "  void add() { std::lock_guard<std::mutex> guard(m); ++n; }\n"
    "  int get() const { return n; }\n"
    "  std::mutex m;\n  int n = 0;\n  std::vector<std::pair<int, Step>> steps;\n};\n"
    "template <class T> T twice(T value) { return value + value; }\n"
    "template <class F> void run(F f) { f(); }\n"
    "template <class T> struct Box { T value; T take() { T old = value; value = T(); return old; } };\n"
    "constexpr int square(int n) { return n * n; }\n"
    "inline auto deduced(int n) { return [n] { return n + 1; }; }\n"
    "inline int global = square(3);\n";

constexpr const char* kMain =
    "#include \"counter.h\"\n"
    "static int helper(int n) { return n + 1; }\n"
    "int first(Counter& c) { c.add(); return twice(helper(1)); }\n"
    "int second(Box<int>& box) { return box.take() + square(2) + deduced(1)(); }\n"
    "void owner() { Counter c; c.add(); }\n";

KnownUnit known_of(const UnitFacts& unit) {
  KnownUnit known{unit.path, unit.files, {}};
  for (const FunctionFacts& function : unit.functions) {
    const auto file = std::ranges::find(unit.files, function.file, &FileFacts::path);
    known.functions.push_back({function.id, static_cast<std::uint32_t>(file - unit.files.begin()),
                               function.has(kInstantiation) || function.has(kImplicit)});
  }
  return known;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

struct KnownUnitTest : ::testing::Test {
  ProjectDirectory project;
  const Sources base{{"include/counter.h", kCounter}, {"main.cc", kMain}};

  UnitFacts analyse(const Sources& sources, const KnownUnits& known = {}) const {
    const Analyzer analyzer({project.root(), project.cache(), {}}, std::make_shared<MemoryTree>(sources), {});
    return analyzer.analyse({project.command("main.cc")}, 1, {}, nullptr, known)[0];
  }

  /// Facts at `head` with the base known, completed; checked against those of a whole parse, of which nothing
  /// may be missing. nullopt when the unit was parsed whole.
  std::optional<UnitFacts> completed(const Sources& head) const {
    const UnitFacts recorded = analyse(base);
    EXPECT_EQ(recorded.errors, 0u) << (recorded.messages.empty() ? "" : recorded.messages[0]);
    UnitFacts unit = analyse(head, {{"main.cc", known_of(recorded)}});
    const UnitFacts whole = analyse(head);
    EXPECT_EQ(whole.errors, 0u) << (whole.messages.empty() ? "" : whole.messages[0]);
    EXPECT_EQ(unit.files, whole.files);
    if (unit.kept.empty()) {
      EXPECT_EQ(unit, whole);
      return std::nullopt;
    }
    for (const FunctionFacts& function : recorded.functions)
      if (std::ranges::find(unit.kept, function.id) != unit.kept.end()) unit.functions.push_back(function);
    for (const FunctionFacts& function : whole.functions) {
      const auto same = std::ranges::find(unit.functions, function.id, &FunctionFacts::id);
      if (same == unit.functions.end())
        ADD_FAILURE() << "lacks " << function.name;
      else
        EXPECT_EQ(*same, function) << function.name;
    }
    return unit;
  }

  Sources with_main(const std::string& what, const std::string& with) const {
    return {{"include/counter.h", kCounter}, {"main.cc", replaced(kMain, what, with)}};
  }
  Sources with_header(const std::string& what, const std::string& with) const {
    return {{"include/counter.h", replaced(kCounter, what, with)}, {"main.cc", kMain}};
  }
};

bool has_function(const UnitFacts& unit, const std::string& name) {
  return std::ranges::any_of(unit.functions, [&](const auto& function) { return function.name == name; });
}

TEST_F(KnownUnitTest, ABodyOfTheMainSourceCostsItsFileOnly) {
  const auto unit = completed(with_main("c.add(); return", "return"));
  ASSERT_TRUE(unit);
  EXPECT_EQ(unit->kept.size() + 4, unit->functions.size()) << "helper, first, second and owner are parsed";
  EXPECT_TRUE(has_function(*unit, "twice<int>"));
}

TEST_F(KnownUnitTest, NothingButACommentIsLookedAtInTheChangedFileToo) {
  EXPECT_TRUE(completed(with_main("void owner", "// comment\nvoid owner")));
}

TEST_F(KnownUnitTest, WhatAnInstantiationForAnotherTypeDoesIsNotKnown) {
  EXPECT_FALSE(completed(with_main("twice(helper(1))", "static_cast<int>(twice(1.5))")));
  EXPECT_FALSE(completed(with_main("Counter c;", "Counter c; Box<long> b{1}; b.take();")));
}

TEST_F(KnownUnitTest, AnInstantiationForALocalTypeIsLookedAt) {
  EXPECT_FALSE(completed(with_main("c.add(); }", "run([&] { c.add(); }); }")));
  const Sources before = with_main("Counter c; c.add();", "Counter c; run([&] { c.add(); });");
  const Sources after = with_main("Counter c; c.add();", "Counter c; run([&] { c.n = 3; });");
  const UnitFacts recorded = analyse(before);
  const UnitFacts unit = analyse(after, {{"main.cc", known_of(recorded)}});
  EXPECT_THAT(unit.kept, IsEmpty()) << "run() has the same name, but calls something else";
  EXPECT_EQ(unit, analyse(after));
}

TEST_F(KnownUnitTest, AnInstantiationThatNobodyUsesAnyMoreMayStay) {
  const auto unit = completed(with_main("twice(helper(1))", "helper(1)"));
  ASSERT_TRUE(unit);
  EXPECT_TRUE(has_function(*unit, "twice<int>"));
}

TEST_F(KnownUnitTest, OtherDeclarationsChangeWhatSkippedBodiesMean) {
  EXPECT_FALSE(completed(with_main("static int helper(int n)", "static int helper(long n)")));
  EXPECT_FALSE(completed(with_main("void owner", "#define TWO 2\nvoid owner")));
  EXPECT_FALSE(completed(with_main("void owner", "void added() {}\nvoid owner")));
  EXPECT_FALSE(completed(with_header("int n = 0;\n", "long n = 0;\n")));
  EXPECT_FALSE(completed(with_header("return n * n;", "return n + n;"))) << "constexpr";
  EXPECT_FALSE(completed(with_header("return n + 1;", "return n + 2;"))) << "deduced type";
}

TEST_F(KnownUnitTest, ABodyOfAHeaderLeavesTheMainSourceAlone) {
  const Sources plain{{"include/plain.h",
                       "#pragma once\n#include \"counter.h\"\ninline void both(Counter& c) { c.add(); }\n"},
                      {"include/counter.h", kCounter},
                      {"main.cc", std::string("#include \"plain.h\"\n") + kMain}};
  Sources changed = plain;
  changed["include/plain.h"] = replaced(plain.at("include/plain.h"), "c.add();", "c.add(); ++c.n;");
  const UnitFacts recorded = analyse(plain);
  const UnitFacts unit = analyse(changed, {{"main.cc", known_of(recorded)}});
  ASSERT_EQ(unit.functions.size(), 1u);
  EXPECT_EQ(unit.functions[0].name, "both");
  EXPECT_EQ(unit.kept.size() + 1, recorded.functions.size());
}

TEST_F(KnownUnitTest, FunctionsThatExistByUseInAChangedHeaderAskForAllBodies) {
  EXPECT_FALSE(completed(with_header("++n; }", "n += 2; }")));
}

TEST_F(KnownUnitTest, OtherFilesAreAnotherUnit) {
  EXPECT_FALSE(completed({{"include/counter.h", kCounter},
                          {"include/more.h", "inline void more() {}\n"},
                          {"main.cc", std::string(kMain) + "#include \"more.h\"\n"}}));
}

TEST_F(KnownUnitTest, ABrokenUnitSaysSoAsEver) {
  const Sources broken = with_main("c.add(); return", "c.nothing(); return");
  const UnitFacts unit = analyse(broken, {{"main.cc", known_of(analyse(base))}});
  EXPECT_GT(unit.errors, 0u);
  EXPECT_THAT(unit.kept, IsEmpty());
  EXPECT_THAT(unit.messages, Not(IsEmpty()));
}

TEST_F(KnownUnitTest, FingerprintTellsEverythingApart) {
  const KnownUnit known = known_of(analyse(base));
  KnownUnit other = known;
  EXPECT_EQ(known.fingerprint(), other.fingerprint());
  other.files[0].content ^= 1;
  EXPECT_NE(known.fingerprint(), other.fingerprint());
  other = known;
  other.functions[0].made_by_use ^= true;
  EXPECT_NE(known.fingerprint(), other.fingerprint());
  other = known;
  other.functions.pop_back();
  EXPECT_NE(known.fingerprint(), other.fingerprint());
}

}  // namespace
}  // namespace simrt::analysis
