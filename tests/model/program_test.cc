#include "model/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/hash.h"

namespace simrt {
namespace {

FunctionFacts function(const std::string& usr, std::uint64_t body, const std::string& file = "a.cc") {
  FunctionFacts facts;
  facts.id = function_id(usr);
  facts.usr = facts.name = usr;
  facts.file = file;
  facts.body = body;
  return facts;
}

UnitFacts unit(const std::string& path, std::vector<FunctionFacts> functions) {
  UnitFacts facts;
  facts.path = path;
  facts.functions = std::move(functions);
  return facts;
}

TEST(Unite, KeepsOneCopyOfAnInlineFunction) {
  const Program program =
      unite({unit("b.cc", {function("inl", 7, "h.h")}), unit("a.cc", {function("inl", 7, "h.h")})});
  ASSERT_EQ(program.functions.size(), 1U);
  EXPECT_EQ(program.units[0].path, "a.cc");
  EXPECT_EQ(program.units[0].functions, program.units[1].functions);
}

TEST(Unite, KeepsBothVariantsOfAFunctionThatDiffersByUnit) {
  const Program program = unite({unit("a.cc", {function("f", 1)}), unit("b.cc", {function("f", 2)})});
  ASSERT_EQ(program.functions.size(), 2U);
  EXPECT_EQ(program.function(function_id("f"))->body, 1U);
}

TEST(Overlay, ReplacesTheReparsedUnitAndDropsWhatItNoLongerDefines) {
  const Program base = unite(
      {unit("a.cc", {function("f", 1), function("gone", 2)}), unit("b.cc", {function("g", 3, "b.cc")})});
  Replacement replacement;
  replacement.reparsed = {unit("a.cc", {function("f", 9), function("fresh", 4)})};
  const Program changed = overlay(base, replacement);
  EXPECT_EQ(changed.function(function_id("f"))->body, 9U);
  EXPECT_EQ(changed.function(function_id("gone")), nullptr);
  EXPECT_NE(changed.function(function_id("fresh")), nullptr);
  EXPECT_NE(changed.function(function_id("g")), nullptr);
  EXPECT_EQ(changed.function(function_id("g")), base.function(function_id("g"))) << "shared, not copied";
}

TEST(Overlay, FunctionSharedWithAnUntouchedUnitStaysUnlessItsHeaderIsRepresented) {
  const Program base =
      unite({unit("a.cc", {function("inl", 1, "h.h")}), unit("b.cc", {function("inl", 1, "h.h")})});
  Replacement replacement;
  replacement.reparsed = {unit("a.cc", {})};
  EXPECT_NE(overlay(base, replacement).function(function_id("inl")), nullptr);
  replacement.represented_files = {"h.h"};
  EXPECT_EQ(overlay(base, replacement).function(function_id("inl")), nullptr);
}

TEST(Overlay, KeptFunctionsOfAReparsedUnitStayAsRecorded) {
  const Program base =
      unite({unit("a.cc", {function("f", 1), function("inl", 2, "h.h"), function("gone", 3)})});
  UnitFacts partly = unit("a.cc", {function("f", 9)});
  partly.kept = {function_id("inl")};
  Replacement replacement;
  replacement.reparsed = {partly};
  const Program changed = overlay(base, replacement);
  EXPECT_EQ(changed.function(function_id("f"))->body, 9U);
  EXPECT_EQ(changed.function(function_id("inl")), base.function(function_id("inl"))) << "shared, not copied";
  EXPECT_EQ(changed.function(function_id("gone")), nullptr);
  EXPECT_THAT(changed.units[0].functions,
              testing::UnorderedElementsAre(function_id("f"), function_id("inl")));
}

TEST(Overlay, AKeptFunctionThatAnotherUnitNowDefinesOtherwiseBecomesAVariant) {
  const Program base =
      unite({unit("a.cc", {function("inl", 1, "h.h")}), unit("b.cc", {function("inl", 1, "h.h")})});
  for (const bool kept_first : {true, false}) {
    UnitFacts partly = unit(kept_first ? "a.cc" : "b.cc", {});
    partly.kept = {function_id("inl")};
    const UnitFacts whole = unit(kept_first ? "b.cc" : "a.cc", {function("inl", 7, "h.h")});
    Replacement replacement;
    replacement.reparsed = {partly, whole};
    const Program changed = overlay(base, replacement);
    const auto body_in = [&](const std::string& path) {
      for (const UnitSummary& summary : changed.units)
        if (summary.path == path) return changed.function(summary.functions.at(0))->body;
      return std::uint64_t{0};
    };
    EXPECT_EQ(body_in(partly.path), 1U);
    EXPECT_EQ(body_in(whole.path), 7U);
  }
}

TEST(Overlay, AVariantKeepsItsIdentity) {
  const Program base = unite({unit("a.cc", {function("main", 1)}), unit("b.cc", {function("main", 2)})});
  Replacement replacement;
  replacement.reparsed = {unit("b.cc", {function("main", 5)})};
  const Program changed = overlay(base, replacement);
  EXPECT_EQ(changed.function(function_id("main"))->body, 1U);
  const FunctionId variant{hash_combine(function_id("main").value, hash_bytes("b.cc"))};
  ASSERT_NE(changed.function(variant), nullptr);
  EXPECT_EQ(changed.function(variant)->body, 5U);
}

/// Constexpr in one unit's language standard only, for example.
TEST(Overlay, AUnitThatDeclaresAFunctionOtherwiseDoesNotChangeIt) {
  FunctionFacts of_a = function("inl", 1, "h.h"), of_b = of_a;
  of_a.signature = 10;
  of_b.signature = 20;
  const Program base = unite({unit("a.cc", {of_a}), unit("b.cc", {of_b})});
  Replacement replacement;
  replacement.reparsed = {unit("b.cc", {of_b})};
  EXPECT_EQ(overlay(base, replacement).function(function_id("inl"))->signature, 10U);
  // With all that hold it, it is what the first of them says: as recorded, or another one now.
  replacement.reparsed.push_back(unit("a.cc", {of_a}));
  EXPECT_EQ(overlay(base, replacement).function(function_id("inl"))->signature, 10U);
  replacement.reparsed[1].functions[0].signature = 11;
  EXPECT_EQ(overlay(base, replacement).function(function_id("inl"))->signature, 11U);
  // Another body is another version, whatever is declared.
  replacement.reparsed = {unit("b.cc", {of_b})};
  replacement.reparsed[0].functions[0].body = 2;
  EXPECT_EQ(overlay(base, replacement).function(function_id("inl"))->signature, 20U);
}

TEST(Overlay, AChangeInARepresentedHeaderReachesUnitsWithTheSameVariant) {
  const Program base =
      unite({unit("a.cc", {function("inl", 1, "h.h")}), unit("b.cc", {function("inl", 2, "h.h")}),
             unit("c.cc", {function("inl", 2, "h.h")})});
  const FunctionId of_b = variant_id(function_id("inl"), "b.cc"),
                   of_c = variant_id(function_id("inl"), "c.cc");
  Replacement replacement;
  replacement.reparsed = {unit("b.cc", {function("inl", 5, "h.h")})};
  EXPECT_EQ(overlay(base, replacement).function(of_c)->body, 2U);
  replacement.represented_files = {"h.h"};
  const Program changed = overlay(base, replacement);
  EXPECT_EQ(changed.function(function_id("inl"))->body, 1U);
  EXPECT_EQ(changed.function(of_b)->body, 5U);
  ASSERT_NE(changed.function(of_c), nullptr);
  EXPECT_EQ(changed.function(of_c)->body, 5U);
}

TEST(Overlay, RemovedUnitTakesItsFunctionsAlong) {
  const Program base = unite({unit("a.cc", {function("f", 1)}), unit("b.cc", {function("g", 2)})});
  Replacement replacement;
  replacement.removed_units = {"a.cc"};
  const Program changed = overlay(base, replacement);
  EXPECT_EQ(changed.function(function_id("f")), nullptr);
  EXPECT_EQ(changed.units.size(), 1U);
}

}  // namespace
}  // namespace simrt
