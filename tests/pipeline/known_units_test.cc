#include "pipeline/known_units.h"

#include <gtest/gtest.h>

namespace simrt::pipeline {
namespace {

constexpr std::uint64_t kCommand = 5;

FunctionFacts function(const std::string& name, const std::string& file, std::uint32_t begin,
                       std::uint32_t end, std::uint32_t flags = kFunctionNone) {
  FunctionFacts facts;
  facts.id = function_id(name);
  facts.name = facts.usr = name;
  facts.file = file;
  facts.begin_line = begin;
  facts.end_line = end;
  facts.flags = flags;
  facts.body = begin;
  return facts;
}

struct KnownUnitsTest : testing::Test {
  Program program() const {
    UnitFacts unit;
    unit.path = "a.cc";
    unit.command = kCommand;
    unit.errors = errors;
    unit.files = {{"a.cc", 1, 2}, {"h.h", 3, 4}};
    unit.functions = {function("f", "a.cc", 10, 20), function("g", "a.cc", 30, 40),
                      function("init", "a.cc", 50, 52, kStaticInit),
                      function("instance", "a.cc", 60, 70, kInstantiation), function("inl", "h.h", 5, 9)};
    if (!in_header.name.empty()) unit.functions.push_back(in_header);
    return unite({unit});
  }

  bool is_known(const std::vector<FileChange>& changes, std::uint64_t command = kCommand,
                const std::string& path = "a.cc") const {
    const Program recorded = program();
    UnitKnowledge known(recorded, changes);
    const analysis::KnownUnit* const found = known.find(path, command);
    EXPECT_EQ(found, known.find(path, command)) << "asked again";
    EXPECT_EQ(found != nullptr, known.found().contains(path));
    EXPECT_EQ(known.fingerprint(path), found ? found->fingerprint() : 0);
    return found != nullptr;
  }

  static FileChange modified(const std::string& path, std::vector<Hunk> hunks) {
    return {FileStatus::Modified, path, path, std::move(hunks)};
  }

  std::uint32_t errors = 0;
  FunctionFacts in_header;
};

TEST_F(KnownUnitsTest, ChangesInBodiesAlone) {
  EXPECT_TRUE(is_known({modified("a.cc", {{12, 2, 12, 1}, {40, 1, 39, 3}})}));
  EXPECT_TRUE(is_known({modified("a.cc", {{12, 0, 13, 4}})})) << "inserted behind line 12";
  EXPECT_TRUE(is_known({modified("h.h", {{6, 1, 6, 1}})}));
  EXPECT_TRUE(is_known({modified("other.cc", {{1, 1, 1, 1}})})) << "parsed for another reason";
}

TEST_F(KnownUnitsTest, ChangesElsewhere) {
  EXPECT_FALSE(is_known({modified("a.cc", {{12, 1, 12, 1}, {25, 1, 25, 1}})}));
  EXPECT_FALSE(is_known({modified("a.cc", {{20, 0, 21, 4}})})) << "inserted behind the function";
  EXPECT_FALSE(is_known({modified("a.cc", {{18, 5, 18, 5}})})) << "more than the function";
  EXPECT_FALSE(is_known({modified("a.cc", {{51, 1, 51, 1}})})) << "an initialiser is a declaration";
  EXPECT_FALSE(is_known({modified("a.cc", {{61, 1, 61, 1}})})) << "no pattern stands there";
  EXPECT_FALSE(is_known({modified("a.cc", {})})) << "nobody knows where";
  EXPECT_FALSE(is_known({{FileStatus::Renamed, "h.h", "i.h", {{6, 1, 6, 1}}}}));
  EXPECT_FALSE(is_known({{FileStatus::Deleted, "h.h", "", {}}}));
}

TEST_F(KnownUnitsTest, InstantiationsInAChangedHeaderMayBeAskedForByAnyBody) {
  in_header = function("in_header", "h.h", 11, 12, kInstantiation);
  EXPECT_FALSE(is_known({modified("h.h", {{6, 1, 6, 1}})}));
  EXPECT_TRUE(is_known({modified("a.cc", {{12, 1, 12, 1}})}));
  in_header.flags = kImplicit;
  EXPECT_TRUE(is_known({modified("h.h", {{6, 1, 6, 1}})})) << "a parse tells whether it is still made";
}

TEST_F(KnownUnitsTest, OtherUnits) {
  const FileChange change = modified("a.cc", {{12, 1, 12, 1}});
  EXPECT_FALSE(is_known({change}, kCommand + 1));
  EXPECT_FALSE(is_known({change}, kCommand, "b.cc"));
  errors = 1;
  EXPECT_FALSE(is_known({change}));
}

TEST_F(KnownUnitsTest, AHeaderThatChangedInMoreThanBodies) {
  const Program recorded = program();
  const std::vector<FileChange> changes{modified("h.h", {{6, 1, 6, 1}})};
  UnitKnowledge known(recorded, changes);
  known.widen({"h.h"});
  EXPECT_EQ(known.find("a.cc", kCommand), nullptr);
}

TEST_F(KnownUnitsTest, TellsFilesAndWhatExistsByUse) {
  const Program recorded = program();
  const std::vector<FileChange> changes{modified("a.cc", {{12, 1, 12, 1}})};
  UnitKnowledge known(recorded, changes);
  const analysis::KnownUnit* const unit = known.find("a.cc", kCommand);
  ASSERT_TRUE(unit);
  EXPECT_EQ(unit->files, recorded.units[0].files);
  ASSERT_EQ(unit->functions.size(), 5U);
  for (const analysis::KnownFunction& function : unit->functions) {
    EXPECT_EQ(unit->files[function.file].path, recorded.function(function.id)->file);
    EXPECT_EQ(function.made_by_use, recorded.function(function.id)->name == "instance");
  }
}

}  // namespace
}  // namespace simrt::pipeline
