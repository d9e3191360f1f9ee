#include "pipeline/unit_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace simrt::pipeline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

UnitSummary unit(const std::string& path, std::vector<std::string> headers, std::uint64_t declarations = 1) {
  UnitSummary summary;
  summary.path = path;
  summary.command = 1;
  summary.files.push_back({path, 1, 1});
  for (const std::string& header : headers) summary.files.push_back({header, 1, declarations});
  return summary;
}

FileChange modified(const std::string& path) { return {FileStatus::Modified, path, path, {}}; }

const std::vector<UnitSummary> kRecorded = {unit("a.cc", {"h.h", "x.h"}), unit("b.cc", {"h.h"}),
                                            unit("c.cc", {})};
const std::map<std::string, std::uint64_t> kCommands = {{"a.cc", 1}, {"b.cc", 1}, {"c.cc", 1}};

TEST(UnitPlan, NothingChangedNothingParsed) {
  const UnitPlan plan = plan_units(kRecorded, kCommands, {});
  EXPECT_THAT(plan.parse, IsEmpty());
  EXPECT_THAT(plan.removed, IsEmpty());
}

TEST(UnitPlan, AChangedSourceCostsItself) {
  EXPECT_THAT(plan_units(kRecorded, kCommands, {modified("c.cc")}).parse, ElementsAre("c.cc"));
}

TEST(UnitPlan, AChangedHeaderCostsOneUnit) {
  const UnitPlan plan = plan_units(kRecorded, kCommands, {modified("h.h")});
  EXPECT_THAT(plan.parse, ElementsAre("b.cc"));  // the smaller closure
  EXPECT_EQ(plan.representative.at("h.h"), "b.cc");
}

TEST(UnitPlan, AUnitThatIsParsedAnywayRepresentsTheHeader) {
  const UnitPlan plan = plan_units(kRecorded, kCommands, {modified("h.h"), modified("a.cc")});
  EXPECT_THAT(plan.parse, ElementsAre("a.cc"));
}

TEST(UnitPlan, AnotherCommandOrANewUnitIsParsed) {
  EXPECT_THAT(plan_units(kRecorded, {{"a.cc", 2}, {"b.cc", 1}, {"c.cc", 1}, {"d.cc", 1}}, {}).parse,
              ElementsAre("a.cc", "d.cc"));
}

TEST(UnitPlan, ADeletedHeaderCostsAllIncluders) {
  EXPECT_THAT(plan_units(kRecorded, kCommands, {{FileStatus::Deleted, "h.h", "", {}}}).parse,
              ElementsAre("a.cc", "b.cc"));
}

TEST(UnitPlan, ANewHeaderThatMayShadowAnotherCostsTheIncluders) {
  EXPECT_THAT(plan_units(kRecorded, kCommands, {{FileStatus::Added, "", "include/x.h", {}}}).parse,
              ElementsAre("a.cc"));
}

TEST(UnitPlan, ARenamedSourceWithoutCommandIsReported) {
  const UnitPlan plan =
      plan_units(kRecorded, {{"a.cc", 1}, {"b.cc", 1}}, {{FileStatus::Renamed, "c.cc", "z.cc", {}}});
  EXPECT_THAT(plan.removed, ElementsAre("c.cc"));
  EXPECT_THAT(plan.without_command, ElementsAre("z.cc"));
}

TEST(UnitPlan, ASourceThatNothingCompilesIsLeftToTheRules) {
  const UnitPlan plan = plan_units(kRecorded, kCommands, {modified("windows.cc")});
  EXPECT_THAT(plan.without_command, IsEmpty());
  ASSERT_EQ(plan.outside.size(), 1U);
}

TEST(UnitPlan, ANewSourceWithoutCommandIsReported) {
  const UnitPlan plan = plan_units(kRecorded, kCommands, {{FileStatus::Added, "", "new.cc", {}}});
  EXPECT_THAT(plan.without_command, ElementsAre("new.cc"));
}

TEST(UnitPlan, OtherFilesAreLeftToTheRules) {
  const UnitPlan plan = plan_units(kRecorded, kCommands, {modified("README.md"), modified("data.json")});
  EXPECT_EQ(plan.outside.size(), 2U);
}

UnitFacts parsed(const std::string& path, const std::string& header, std::uint64_t declarations) {
  UnitFacts facts;
  facts.path = path;
  facts.files = {{path, 1, 1}, {header, 2, declarations}};
  return facts;
}

TEST(FurtherUnits, NoneWhenOnlyBodiesChanged) {
  const UnitPlan plan = plan_units(kRecorded, kCommands, {modified("h.h")});
  EXPECT_THAT(further_units(plan, kRecorded, {parsed("b.cc", "h.h", 1)}).units, IsEmpty());
}

TEST(FurtherUnits, AllIncludersWhenDeclarationsChanged) {
  const UnitPlan plan = plan_units(kRecorded, kCommands, {modified("h.h")});
  const FurtherUnits further = further_units(plan, kRecorded, {parsed("b.cc", "h.h", 2)});
  EXPECT_THAT(further.units, ElementsAre("a.cc"));
  EXPECT_THAT(further.widened_headers, ElementsAre("h.h"));
}

TEST(FurtherUnits, AllIncludersWhenTheRepresentativeIsBroken) {
  const UnitPlan plan = plan_units(kRecorded, kCommands, {modified("h.h")});
  UnitFacts broken = parsed("b.cc", "h.h", 1);
  broken.errors = 1;
  EXPECT_THAT(further_units(plan, kRecorded, {broken}).units, ElementsAre("a.cc"));
}

TEST(OtherVersions, UnitsWithOtherInstantiationsFollow) {
  FunctionFacts first;
  first.id = function_id("f<int>");
  first.pattern = function_id("f");
  first.body = 1;
  FunctionFacts second = first;
  second.id = function_id("f<long>");
  Program program;
  program.functions = {first, second};
  program.units = {unit("a.cc", {}), unit("b.cc", {})};
  program.units[0].functions = {first.id};
  program.units[1].functions = {second.id};
  program.index();
  UnitFacts now;
  now.path = "a.cc";
  first.body = 2;
  now.functions = {first};
  EXPECT_THAT(units_with_other_versions(program, {now}, {}), ElementsAre("b.cc"));
  now.functions[0].body = 1;
  EXPECT_THAT(units_with_other_versions(program, {now}, {}), IsEmpty());
}

/// Two units that define f otherwise (other macros).
std::vector<UnitFacts> two_variants() {
  std::vector<UnitFacts> units(2);
  for (std::size_t i = 0; i < units.size(); ++i) {
    FunctionFacts f;
    f.id = function_id("f<int>");
    f.usr = "f<int>";
    f.pattern = function_id("f");
    f.body = 10 + i;
    units[i].path = i == 0 ? "a.cc" : "b.cc";
    units[i].functions = {f};
  }
  return units;
}

TEST(OtherVersions, AUnitIsComparedWithItsOwnVariant) {
  const std::vector<UnitFacts> units = two_variants();
  const Program program = unite(units);
  ASSERT_EQ(program.functions.size(), 2U);
  for (const UnitFacts& unit : units) EXPECT_THAT(units_with_other_versions(program, {unit}, {}), IsEmpty());
}

TEST(OtherVersions, AChangedVariantMayHaveChangedInOtherUnitsToo) {
  for (const bool is_template : {true, false}) {
    std::vector<UnitFacts> units = two_variants();
    if (!is_template)
      for (UnitFacts& unit : units) unit.functions[0].pattern = {};
    const Program program = unite(units);
    units[0].functions[0].body = 5;
    EXPECT_THAT(units_with_other_versions(program, {units[0]}, {}), ElementsAre("b.cc"));
    units[0].functions[0].body = 10;
    units[1].functions[0].body = 5;
    EXPECT_THAT(units_with_other_versions(program, {units[1]}, {}), ElementsAre("a.cc"));
    EXPECT_THAT(units_with_other_versions(program, units, {}), IsEmpty());
    units[1].functions[0].body = 11;
    if (!is_template)
      units[1].functions[0].signature = 3;  // declared otherwise than in the unit it is kept of
    EXPECT_THAT(units_with_other_versions(program, {units[1]}, {}), IsEmpty());
  }
}

/// f of a header in four units: a.cc has one variant, the others another one.
TEST(OtherVersions, OfARepresentedHeaderOneUnitADefinitionIsEnough) {
  std::vector<UnitFacts> units = two_variants();
  for (const char* path : {"c.cc", "d.cc"}) {
    units.push_back(units[1]);
    units.back().path = path;
  }
  for (UnitFacts& unit : units) unit.functions[0].file = "h.h";
  const Program program = unite(units);
  ASSERT_EQ(program.functions.size(), 4U);
  UnitFacts now = units[0];
  now.functions[0].body = 5;
  EXPECT_THAT(units_with_other_versions(program, {now}, {}), ElementsAre("b.cc", "c.cc", "d.cc"));
  EXPECT_THAT(units_with_other_versions(program, {now}, {"h.h"}), ElementsAre("b.cc"));
  now = units[2];
  now.functions[0].body = 5;
  EXPECT_THAT(units_with_other_versions(program, {now}, {"h.h"}), ElementsAre("a.cc"));
}

}  // namespace
}  // namespace simrt::pipeline
