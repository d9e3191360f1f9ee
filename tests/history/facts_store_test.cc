#include "history/facts_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "history/stats.h"
#include "sample.h"

namespace simrt::history {
namespace {

struct Project {
  std::vector<UnitFacts> units;
  Program program() const { return unite(units); }
};

/// Two units that share a header, in which one inline function is compiled differently in each.
Project project() {
  Sampler sampler(11);
  const UnitFacts header = sampler.unit("h.h", 20);
  Project project{{sampler.unit("b.cc", 15, &header), sampler.unit("a.cc", 10, &header)}};
  FunctionFacts& variant = project.units[0].functions.back();
  variant.body ^= 1;
  variant.flags ^= kNoCfg;
  return project;
}

void put_all(Database& database, RevisionId revision, const Project& project) {
  for (const UnitFacts& unit : project.units) ok(put_unit(database, revision, unit));
}

TEST(FactsStore, AUnitComesBackAsItWasPut) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId revision = begin(database, "abc");
  const UnitFacts unit = Sampler(12).unit("a.cc", 30);
  const UnitId id = ok(put_unit(database, revision, unit));
  EXPECT_TRUE(ok(load_unit(database, id)) == unit);
}

TEST(FactsStore, AnEmptyUnitIsFine) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId revision = begin(database, "abc");
  UnitFacts unit;
  unit.path = "empty.cc";
  EXPECT_TRUE(ok(load_unit(database, ok(put_unit(database, revision, unit)))) == unit);
  EXPECT_EQ(ok(load_program(database, revision)).units.size(), 1U);
}

TEST(FactsStore, LoadsTheProgramThatUniteMakes) {
  TempDir dir;
  const Project sample = project();
  {
    Database database = create(dir.file());
    put_all(database, begin(database, "abc"), sample);
  }
  Database database = ok(Database::open(dir.file(), {OpenMode::ReadOnly}));
  const RevisionId revision = ok(find_revision(database, "abc", "env"))->id;
  const Program expected = sample.program();
  ASSERT_EQ(expected.functions.size(), 46U);  // 20 + 15 + 10 and the variant
  expect_same_program(ok(load_program(database, revision)), expected);
}

TEST(FactsStore, AProgramOfManyFunctionsIsDecodedInItsOrder) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId revision = begin(database, "abc");
  Sampler sampler(13);
  const Project sample{{sampler.unit("a.cc", 700), sampler.unit("b.cc", 600)}};  // several decoders at once
  put_all(database, revision, sample);
  expect_same_program(ok(load_program(database, revision)), sample.program());
}

TEST(FactsStore, PointsComeWithTheIdsOfTheProgram) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId revision = begin(database, "abc");
  const Project sample = project();
  put_all(database, revision, sample);
  const Program program = sample.program();
  const std::vector<FunctionPoints> points = ok(load_points(database, revision));
  ASSERT_EQ(points.size(), program.functions.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points[i].function, program.functions[i].id);
    ASSERT_EQ(points[i].blocks.size(), program.functions[i].blocks.size());
    EXPECT_EQ(points[i].blocks[0].points[0].line, program.functions[i].begin_line);
  }
}

TEST(FactsStore, SharedAndMovedFunctionsAreStoredOnce) {
  TempDir dir;
  Database database = create(dir.file());
  put_all(database, begin(database, "one"), project());
  const Stats before = ok(stats(database));
  EXPECT_EQ(before.function_versions, 46U);

  Project moved = project();
  for (UnitFacts& unit : moved.units) {
    unit.files[0].content ^= 1;
    for (std::size_t i = 0; i < unit.functions.size(); ++i) {
      FunctionFacts& function = unit.functions[i];
      for (Block& block : function.blocks)
        for (Element& element : block.elements) {
          if (element.at.line) element.at.line += 100;
          for (Event& event : element.events)
            if (event.at.line) event.at.line += 100;
        }
      function.begin_line += 100;
      function.end_line += 100;
      for (BlockPoints& block : unit.points[i].blocks)
        for (SourcePoint& point : block.points) point.line += 100;
    }
    for (VariableFacts& variable : unit.variables) variable.at.line += 100;
  }
  const RevisionId second = begin(database, "two");
  put_all(database, second, moved);
  const Stats after = ok(stats(database));
  EXPECT_EQ(after.function_versions, before.function_versions);
  EXPECT_EQ(after.variables, before.variables);
  EXPECT_EQ(after.units, before.units + 2);
  expect_same_program(ok(load_program(database, second)), moved.program());
}

TEST(FactsStore, AnUnchangedUnitIsFoundAndLinkedWithoutParsing) {
  TempDir dir;
  Database database = create(dir.file());
  const Project sample = project();
  const RevisionId first = begin(database, "one"), second = begin(database, "two");
  put_all(database, first, sample);

  std::map<std::string, std::uint64_t> contents;
  for (const UnitFacts& unit : sample.units)
    for (const FileFacts& file : unit.files) contents[file.path] = file.content;
  const ContentHash content = [&](const std::string& path) -> std::optional<std::uint64_t> {
    const auto found = contents.find(path);
    return found == contents.end() ? std::nullopt : std::optional(found->second);
  };
  for (const UnitFacts& unit : sample.units) {
    const auto found = ok(find_unit(database, unit.path, unit.command, content));
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(found->files == unit.files);
    EXPECT_TRUE(found->readable);
    ok(link_unit(database, second, found->id));
  }
  expect_same_program(ok(load_program(database, second)), sample.program());

  const UnitFacts& unit = sample.units[0];
  EXPECT_FALSE(ok(find_unit(database, unit.path, unit.command + 1, content)).has_value());
  contents["h.h"] ^= 1;
  EXPECT_FALSE(ok(find_unit(database, unit.path, unit.command, content)).has_value());
  contents.erase("h.h");
  EXPECT_FALSE(ok(find_unit(database, unit.path, unit.command, content)).has_value());
}

TEST(FactsStore, ANewVersionReplacesTheOldOneInItsRevisionOnly) {
  TempDir dir;
  Database database = create(dir.file());
  Project sample = project();
  const RevisionId first = begin(database, "one"), second = begin(database, "two");
  put_all(database, first, sample);
  put_all(database, second, sample);
  const Program old = sample.program();
  sample.units[1].functions[0].body ^= 1;
  ok(put_unit(database, second, sample.units[1]));
  EXPECT_EQ(ok(revision_units(database, second)).size(), 2U);
  expect_same_program(ok(load_program(database, second)), sample.program());
  expect_same_program(ok(load_program(database, first)), old);
}

TEST(FactsStore, UnitsOfARevisionCarryTheirFiles) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId revision = begin(database, "one");
  const Project sample = project();
  put_all(database, revision, sample);
  const std::vector<StoredUnit> units = ok(revision_units(database, revision));
  ASSERT_EQ(units.size(), 2U);
  EXPECT_EQ(units[0].path, "a.cc");
  EXPECT_TRUE(units[0].files == sample.units[1].files);
  EXPECT_EQ(units[1].errors, sample.units[0].errors);

  EXPECT_EQ(ok(keep_units(database, revision, {units[1].id})), 1U);
  EXPECT_EQ(ok(revision_units(database, revision)).size(), 1U);
}

TEST(RevisionStore, BeginAgainGoesOnAndShardsMakeItComplete) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId revision = begin(database, "abc", 10);
  EXPECT_FALSE(ok(find_revision(database, "abc", "env"))->complete);
  ok(finish_revision(database, revision, {1, 3}));
  ok(finish_revision(database, revision, {1, 2}));
  ok(finish_revision(database, revision, {3, 3}));
  EXPECT_FALSE(ok(find_revision(database, "abc", "env"))->complete);
  ok(finish_revision(database, revision, {2, 3}));
  EXPECT_TRUE(ok(find_revision(database, "abc", "env"))->complete);
  EXPECT_EQ(finish_revision(database, revision, {4, 3}).error().code, ErrorCode::Usage);
  EXPECT_EQ(finish_revision(database, revision, {0, 1}).error().code, ErrorCode::Usage);

  EXPECT_EQ(begin(database, "abc", 20), revision);
  const auto again = ok(find_revision(database, "abc", "env"));
  EXPECT_FALSE(again->complete);
  EXPECT_EQ(again->recorded_at, 20);
  ok(finish_revision(database, revision));
  EXPECT_TRUE(ok(find_revision(database, "abc", "env"))->complete);
}

TEST(RevisionStore, RecordingAPartKeepsWhatIsComplete) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId revision = begin(database, "abc", 10);
  const auto part = [&] {
    return ok(
        begin_revision(database, {{}, "abc", "env", 30, false, false, "tool"}, {"env", "d"}, Extent::Part));
  };
  EXPECT_EQ(part(), revision);
  EXPECT_FALSE(ok(find_revision(database, "abc", "env"))->complete);
  ok(finish_revision(database, revision, {1, 2}));
  EXPECT_EQ(part(), revision);
  ok(finish_revision(database, revision, {2, 2}));  // the first shard still counts
  EXPECT_TRUE(ok(find_revision(database, "abc", "env"))->complete);
  EXPECT_EQ(part(), revision);
  EXPECT_TRUE(ok(find_revision(database, "abc", "env"))->complete);
  EXPECT_EQ(ok(find_revision(database, "abc", "env"))->recorded_at, 30);
}

TEST(RevisionStore, EnvironmentsStayApart) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId one = begin(database, "abc", 10, "gcc"), two = begin(database, "abc", 20, "clang");
  EXPECT_NE(one, two);
  EXPECT_FALSE(ok(find_revision(database, "abc", "msvc")).has_value());
  const auto all = ok(revisions(database));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].environment, "clang");  // newest first
  EXPECT_EQ(ok(revisions(database, "gcc")).size(), 1U);
  EXPECT_EQ(ok(environments(database)).size(), 2U);
}

}  // namespace
}  // namespace simrt::history
