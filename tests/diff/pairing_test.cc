#include <gmock/gmock.h>

#include "cfg_text.h"
#include "diff/diff.h"
#include "diff/renames.h"

namespace simrt::diff {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

FunctionFacts function(const std::string& usr, const std::string& code) {
  FunctionFacts f = parse_cfg(usr, "2: | >1\n 1: " + code + " | >0\n 0:");
  f.name = usr + "()";
  return f;
}

FunctionFacts lambda(const FunctionFacts& parent, int number, const std::string& code) {
  FunctionFacts f = function(parent.usr + "/lambda#" + std::to_string(number), code);
  f.parent = parent.id;
  f.flags = kLambda;
  return f;
}

/// "old -> new status" by USR, "-" for a missing side.
std::vector<std::string> summary(const std::vector<FunctionFacts>& before,
                                 const std::vector<FunctionFacts>& after, const DiffOptions& options = {}) {
  const Program old_program = program_of(before), new_program = program_of(after);
  const ProgramDiff diff = diff_programs(old_program, new_program, options);
  std::vector<std::string> lines;
  const char* names[] = {"unchanged", "changed", "added", "removed"};
  for (const FunctionDiff& f : diff.functions) {
    const FunctionFacts* o = old_program.function(f.old_id);
    const FunctionFacts* n = f.status == FunctionStatus::Removed ? nullptr : new_program.function(f.id);
    lines.push_back((o ? o->usr : "-") + " -> " + (n ? n->usr : "-") + " " +
                    names[static_cast<int>(f.status)]);
  }
  return lines;
}

TEST(Pairing, AddedRemovedChanged) {
  EXPECT_THAT(summary({function("f", "a"), function("g", "b"), function("k", "d")},
                      {function("f", "a"), function("g", "c"), function("h", "e")}),
              UnorderedElementsAre("g -> g changed", "k -> - removed", "- -> h added"));
}

TEST(Pairing, ResultsAreOrderedById) {
  const Program before = program_of({}),
                after = program_of({function("f", "a"), function("g", "b"), function("h", "c")});
  const ProgramDiff diff = diff_programs(before, after);
  ASSERT_EQ(diff.functions.size(), 3u);
  EXPECT_LT(diff.functions[0].id, diff.functions[1].id);
  EXPECT_LT(diff.functions[1].id, diff.functions[2].id);
}

TEST(Pairing, SignatureAndFlagsCount) {
  FunctionFacts other_signature = function("f", "a"), broken = function("g", "b");
  other_signature.signature = 7;
  broken.flags = kBroken;
  EXPECT_THAT(summary({function("f", "a"), broken}, {other_signature, broken}),
              UnorderedElementsAre("f -> f changed", "g -> g changed"));
  // Nothing inside differs, so the entry stands for the change.
  const ProgramDiff diff = diff_programs(program_of({function("f", "a")}), program_of({other_signature}));
  EXPECT_THAT(diff.functions.front().dangerous, ElementsAre(2u));
}

TEST(Pairing, RenamedFunctionOfEqualCodeIsMoved) {
  FunctionFacts before = function("ns::f", "long code"), after = function("ns::g", "long code");
  EXPECT_THAT(summary({before}, {after}), ElementsAre("ns::f -> ns::g unchanged"));
  // Another name in another file is a coincidence (getters are all alike).
  after.file = "b.cc";
  EXPECT_THAT(summary({before}, {after}), UnorderedElementsAre("ns::f -> - removed", "- -> ns::g added"));
}

TEST(Pairing, AmbiguousTwinsStayApart) {
  EXPECT_EQ(summary({function("f", "x")}, {function("g", "x"), function("h", "x")}).size(), 3u);
}

TEST(Pairing, FunctionMovedToAnotherFileKeepsItsName) {
  FunctionFacts before = function("c:a.cc@F@f", "x"), after = function("c:b.cc@F@f", "x");
  before.name = after.name = "f()";
  after.file = "b.cc";
  EXPECT_THAT(summary({before}, {after}), ElementsAre("c:a.cc@F@f -> c:b.cc@F@f unchanged"));
}

TEST(Pairing, StaticFunctionOfARenamedFile) {
  FunctionFacts before = function("c:old.cc@F@f", "x"), after = function("c:new.cc@F@f", "y");
  before.file = "src/old.cc";
  after.file = "lib/new.cc";
  DiffOptions options;
  options.renamed_files = {{"src/old.cc", "lib/new.cc"}};
  EXPECT_THAT(summary({before}, {after}, options), ElementsAre("c:old.cc@F@f -> c:new.cc@F@f changed"));
  EXPECT_EQ(summary({before}, {after}).size(), 2u);
}

TEST(Pairing, RenamedFileWithAnOpaqueIdentityPairsByName) {
  FunctionFacts before = function("u1", "x"), after = function("u2", "y");
  before.name = after.name = "(anonymous namespace)::f()";
  before.file = "old.cc";
  after.file = "new.cc";
  DiffOptions options;
  options.renamed_files = {{"old.cc", "new.cc"}};
  EXPECT_THAT(summary({before}, {after}, options), ElementsAre("u1 -> u2 changed"));
}

TEST(Renames, ReplacesWholeNamesOnly) {
  const std::vector<std::pair<std::string, std::string>> files{{"src/a.cc", "src/b.cc"}};
  const Renames renames(files);
  EXPECT_EQ(renames.renamed_usr("c:a.cc@F@f"), "c:b.cc@F@f");
  EXPECT_EQ(renames.renamed_usr("c:src/a.cc@aN@F@f"), "c:src/b.cc@aN@F@f");
  EXPECT_EQ(renames.renamed_usr("c:data.cc@F@f"), "c:data.cc@F@f");
  EXPECT_EQ(renames.renamed_usr("c:other/a.cc@F@f"), "c:other/a.cc@F@f");
  EXPECT_EQ(renames.renamed("src/a.cc"), "src/b.cc");
  EXPECT_EQ(renames.renamed("src/c.cc"), "src/c.cc");
}

TEST(Pairing, LambdaInsertedBeforeAnother) {
  const FunctionFacts parent = function("f", "p"), parent_now = function("f", "q; p");
  EXPECT_THAT(
      summary({parent, lambda(parent, 0, "one"), lambda(parent, 1, "two")},
              {parent_now, lambda(parent, 0, "fresh"), lambda(parent, 1, "one"), lambda(parent, 2, "two")}),
      UnorderedElementsAre("f -> f changed", "- -> f/lambda#0 added", "f/lambda#0 -> f/lambda#1 unchanged",
                           "f/lambda#1 -> f/lambda#2 unchanged"));
}

TEST(Pairing, ChangedLambdaBetweenEqualOnes) {
  const FunctionFacts parent = function("f", "p");
  EXPECT_THAT(summary({parent, lambda(parent, 0, "one"), lambda(parent, 1, "two"), lambda(parent, 10, "ten")},
                      {parent, lambda(parent, 0, "one"), lambda(parent, 1, "2"), lambda(parent, 10, "ten")}),
              ElementsAre("f/lambda#1 -> f/lambda#1 changed"));
}

TEST(Pairing, LambdasFollowARenamedParentAndNest) {
  const FunctionFacts before = function("f", "p"), after = function("g", "p");
  const FunctionFacts outer = lambda(before, 0, "o"), outer_now = lambda(after, 0, "o");
  EXPECT_THAT(summary({before, outer, lambda(outer, 0, "i")}, {after, outer_now, lambda(outer_now, 0, "j")}),
              UnorderedElementsAre("f -> g unchanged", "f/lambda#0 -> g/lambda#0 unchanged",
                                   "f/lambda#0/lambda#0 -> g/lambda#0/lambda#0 changed"));
}

TEST(Pairing, LambdaWithoutKnownParentPairsById) {
  const FunctionFacts elsewhere = function("elsewhere", "p");
  EXPECT_THAT(summary({lambda(elsewhere, 0, "a")}, {lambda(elsewhere, 0, "b")}),
              ElementsAre("elsewhere/lambda#0 -> elsewhere/lambda#0 changed"));
}

TEST(Pairing, InstantiationOfARenamedArgument) {
  FunctionFacts before = function("t<A>", "x"), after = function("t<B>", "y"), same = function("t<int>", "z");
  before.flags = after.flags = same.flags = kInstantiation;
  before.pattern = after.pattern = same.pattern = function_id("t");
  EXPECT_THAT(summary({before, same}, {after, same}), ElementsAre("t<A> -> t<B> changed"));
  FunctionFacts more = function("t<C>", "w");
  more.flags = kInstantiation;
  more.pattern = function_id("t");
  EXPECT_EQ(summary({before, same}, {after, more, same}).size(), 3u)
      << "which of them t<A> became is unknown";
}

TEST(Pairing, RestrictionLooksAtNothingElse) {
  std::set<FunctionId> only{function_id("f")};
  DiffOptions options;
  options.restrict_to = &only;
  EXPECT_THAT(
      summary({function("f", "a"), function("g", "b")}, {function("f", "c"), function("g", "d")}, options),
      ElementsAre("f -> f changed"));
  only = {};
  EXPECT_THAT(summary({function("f", "a")}, {function("f", "c")}, options), IsEmpty());
}

TEST(Variables, TypeTraitsAndStorage) {
  const auto variable = [](const char* name, const char* type, std::uint16_t traits,
                           VariableKind kind = VariableKind::Field) {
    VariableFacts facts;
    facts.id = variable_id(name);
    facts.name = name;
    facts.type = type;
    facts.traits = traits;
    facts.kind = kind;
    return facts;
  };
  Program before, after;
  before.variables = {variable("a", "int", 0),
                      variable("b", "std::atomic<int>", kAtomic),
                      variable("c", "int", kThreadLocal),
                      variable("d", "int", 0),
                      variable("gone", "int", 0),
                      variable("e", "int", 0)};
  after.variables = {variable("a", "int", 0),   variable("b", "int", 0),
                     variable("c", "int", 0),   variable("d", "int", 0, VariableKind::StaticMember),
                     variable("new", "int", 0), variable("e", "long", 0)};
  before.index();
  after.index();
  EXPECT_THAT(diff_programs(before, after).variables,
              UnorderedElementsAre(variable_id("b"), variable_id("c"), variable_id("d"), variable_id("e")));
}

// Only who shares with whom counts, and only among those that both versions have.
TEST(Variables, SharedMemory) {
  const auto field = [](const char* name, std::uint64_t shares) {
    VariableFacts facts;
    facts.id = variable_id(name);
    facts.name = name;
    facts.kind = VariableKind::Field;
    facts.shares = shares;
    return facts;
  };
  Program before, after;
  before.variables = {field("a", 0), field("b", 0), field("c", 7), field("d", 7), field("e", 0)};
  after.variables = {field("a", 3), field("b", 3), field("c", 8),
                     field("d", 8), field("e", 4), field("new", 4)};
  before.index();
  after.index();
  EXPECT_THAT(diff_programs(before, after).variables,
              UnorderedElementsAre(variable_id("a"), variable_id("b")));
}

TEST(Malformed, GraphsAreComparedAsFarAsTheyGo) {
  FunctionFacts empty;
  empty.id = function_id("f");
  empty.usr = "f";
  FunctionFacts full = function("f", "a");
  EXPECT_EQ(diff_programs(program_of({empty}), program_of({full})).functions.size(), 1u);
  EXPECT_EQ(diff_programs(program_of({full}), program_of({empty})).functions.size(), 1u);
  FunctionFacts dangling = function("f", "b");
  dangling.entry = 77;
  dangling.blocks[1].successors.push_back({EdgeKind::True, 0, 99});
  dangling.blocks[1].elements[0].locals = {42};
  EXPECT_EQ(diff_programs(program_of({full}), program_of({dangling})).functions.size(), 1u);
}

}  // namespace
}  // namespace simrt::diff
