// Which functions there are, how they are named, and that names survive unrelated edits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "extract_testing.h"

namespace simrt::analysis {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

std::vector<std::string> names(const UnitFacts& unit) {
  std::vector<std::string> result;
  for (const FunctionFacts& facts : unit.functions) result.push_back(facts.name);
  return result;
}

std::set<std::string> usrs(const UnitFacts& unit) {
  std::set<std::string> result;
  for (const FunctionFacts& facts : unit.functions) result.insert(facts.usr);
  return result;
}

constexpr const char* kZoo = R"(
namespace ns { inline namespace v1 { int free_function(int a) { return a; } } }
static int file_static() { return 1; }
namespace { int hidden() { return 2; } }
struct S {
  S() : v(0) {}
  explicit S(int a) : v(a) {}
  ~S() { v = 0; }
  int method() const { return v; }
  static int make() { return 3; }
  operator int() const { return v; }
  S& operator+=(int a) { v += a; return *this; }
  friend int friendly(S& s) { return s.v; }
  struct Nested { void inner() {} };
  int v;
  static int counter;
};
int S::counter = 4;
template <class T> struct Box { void set(T t) { value = t; } T value; struct In { void deep() {} }; };
template <class T, int N> T scaled(T t) { return t * N; }
template <> int scaled<int, 9>(int) { return 0; }
void local_class() {
  struct Local { int get() { return v; } int v; } first{1};
  { struct Local { int get() { return 2; } } second; second.get(); }
  struct { int a; int twice() { return 2 * a; } } anonymous{3};
  first.get(); anonymous.twice();
}
auto at_namespace_scope = [](int a) { return a; };
void lambdas() { auto a = [] { return [] { return 1; }; }; auto b = [](auto x) { return x; }; a()(); b(1); b(2L); }
struct WithInit { int (*f)() = [] { return 7; }; };
void use() { Box<int> b; b.set(1); scaled<int, 2>(1); scaled<long, 3>(1); WithInit w; (void)w.f; Box<int>::In in; in.deep(); }
)";

TEST(Identity, EveryKindOfFunctionIsFound) {
  const UnitFacts unit = facts_of(kZoo);
  const std::vector<std::string> found = names(unit);
  for (const char* name : {"ns::free_function",
                           "file_static",
                           "(anonymous namespace)::hidden",
                           "S::S()",
                           "S::S(int)",
                           "S::~S",
                           "S::method",
                           "S::make",
                           "S::operator int",
                           "S::operator+=",
                           "friendly",
                           "S::Nested::inner",
                           "initialiser of S::counter",
                           "Box::set",
                           "Box<int>::set",
                           "Box::In::deep",
                           "Box<int>::In::deep",
                           "scaled<int, 2>",
                           "scaled<long, 3>",
                           "scaled<int, 9>",
                           "local_class",
                           "local_class()::Local::get",
                           "lambdas",
                           "lambdas::lambda#0",
                           "lambdas::lambda#0::lambda#0",
                           "lambdas::lambda#1",
                           "initialiser of at_namespace_scope"})
    EXPECT_THAT(found, Contains(name));
  EXPECT_EQ(usrs(unit).size(), unit.functions.size()) << "no two functions share an identity";
  ASSERT_EQ(unit.points.size(), unit.functions.size());
  for (std::size_t i = 0; i < unit.functions.size(); ++i) {
    EXPECT_EQ(unit.points[i].function, unit.functions[i].id);
    EXPECT_EQ(unit.functions[i].id, function_id(unit.functions[i].usr));
    EXPECT_EQ(unit.functions[i].file, "x.cc");
    EXPECT_GT(unit.functions[i].begin_line, 1u);
    EXPECT_LE(unit.functions[i].begin_line, unit.functions[i].end_line);
  }
}

TEST(Identity, NamesSurviveUnrelatedEdits) {
  const std::string moved =
      "\n// a comment that moves everything\nint unrelated(int x) { auto l = [x] { return x; }; return l(); "
      "}\n" +
      std::string(kZoo);
  const std::set<std::string> before = usrs(facts_of(kZoo)), after = usrs(facts_of(moved));
  for (const std::string& usr : before) EXPECT_TRUE(after.contains(usr)) << usr;
}

TEST(Identity, InstancesKnowTheirPattern) {
  const UnitFacts unit = facts_of(kZoo);
  EXPECT_EQ(function(unit, "Box<int>::set").pattern, function(unit, "Box::set").id);
  EXPECT_TRUE(function(unit, "Box<int>::set").has(kInstantiation));
  EXPECT_TRUE(function(unit, "Box::set").has(kDependent));
  EXPECT_FALSE(function(unit, "Box::set").pattern);
  EXPECT_TRUE(function(unit, "Box::set").linkage_names.empty()) << "a pattern has no code";
  EXPECT_FALSE(function(unit, "scaled<int, 9>").pattern) << "an explicit specialisation stands for itself";
}

TEST(Identity, LambdasAndLocalClassesKnowTheirParent) {
  const UnitFacts unit = facts_of(kZoo);
  EXPECT_EQ(function(unit, "lambdas::lambda#0").parent, function(unit, "lambdas").id);
  EXPECT_EQ(function(unit, "lambdas::lambda#0::lambda#0").parent, function(unit, "lambdas::lambda#0").id);
  EXPECT_TRUE(function(unit, "lambdas::lambda#0").has(kLambda));
  EXPECT_EQ(function(unit, "local_class()::Local::get").parent, function(unit, "local_class").id);
}

TEST(Identity, LinkageNames) {
  const UnitFacts unit = facts_of(kZoo);
  EXPECT_THAT(function(unit, "ns::free_function").linkage_names, ElementsAre("_ZN2ns2v113free_functionEi"));
  EXPECT_THAT(function(unit, "S::S(int)").linkage_names, UnorderedElementsAre("_ZN1SC1Ei", "_ZN1SC2Ei"));
  EXPECT_THAT(function(unit, "S::~S").linkage_names, UnorderedElementsAre("_ZN1SD1Ev", "_ZN1SD2Ev"));
  EXPECT_THAT(function(unit, "Box<int>::set").linkage_names, ElementsAre("_ZN3BoxIiE3setEi"));
  const UnitFacts deleting = facts_of("struct V { virtual ~V() {} };");
  EXPECT_THAT(function(deleting, "V::~V").linkage_names,
              UnorderedElementsAre("_ZN1VD0Ev", "_ZN1VD1Ev", "_ZN1VD2Ev"));
}

TEST(Identity, EachProgramHasItsOwnMain) {
  const Source one{"int main() { return 0; }", "a/one.cc"}, other{"int main() { return 0; }", "b/one.cc"};
  EXPECT_NE(function(facts_of(one), "main").id, function(facts_of(other), "main").id);
}

TEST(Identity, FileStaticsOfEqualBaseNameDiffer) {
  const char* code =
      "static int helper() { return 1; } namespace { struct T { int m() { return 2; } }; } int f() { return "
      "helper() + T().m(); }";
  const UnitFacts one = facts_of(Source{code, "a/x.cc"}), other = facts_of(Source{code, "b/x.cc"});
  EXPECT_NE(function(one, "helper").id, function(other, "helper").id);
  EXPECT_NE(function(one, "(anonymous namespace)::T::m").id,
            function(other, "(anonymous namespace)::T::m").id);
  EXPECT_EQ(function(one, "f").id, function(other, "f").id);
}

TEST(Identity, OnlyRepositoryFilesCount) {
  Source source{
      "#include \"inner.h\"\n#include <vector>\nint f(std::vector<int>& v) { return inner(v.size()); }"};
  source.headers = {{"inner.h", "#pragma once\ninline int inner(int a) { return a; }\n"}};
  const UnitFacts unit = facts_of(source);
  EXPECT_THAT(names(unit), ElementsAre("inner", "f"));
  EXPECT_EQ(function(unit, "inner").file, "inner.h");
}

TEST(Identity, ImplicitMembersWithEffects) {
  const UnitFacts unit = facts_of(R"(
struct Part { Part(); Part(const Part&); ~Part(); };
struct Whole { Part p; int v; };
struct Plain { int a, b; };
void f(Whole& w, Plain& p) { Whole copy = w; Plain q = p; Plain r; q = p; }
)");
  const std::vector<std::string> found = names(unit);
  EXPECT_THAT(found, Contains("Whole::~Whole"));
  EXPECT_TRUE(function(unit, "Whole::~Whole").has(kImplicit));
  EXPECT_THAT(found, testing::Not(Contains("Plain::Plain()")));
  EXPECT_THAT(event_lines(unit, "Whole::~Whole"), ElementsAre("call direct &Whole::p of this . Part::~Part"));
}

TEST(Identity, Overriding) {
  const UnitFacts unit = facts_of("struct A { virtual void m() {} }; struct B : A { void m() override {} };");
  EXPECT_THAT(function(unit, "B::m").overrides, ElementsAre(function(unit, "A::m").id));
}

TEST(Identity, InstancesOnClosuresDiffer) {
  const UnitFacts unit = facts_of(
      "template <class F> void run(F f) { f(); } int g; void f() { run([] { g = 1; }); run([] { g = 2; }); "
      "}");
  std::vector<FunctionId> instances;
  for (const FunctionFacts& facts : unit.functions)
    if (facts.has(kInstantiation) && !facts.has(kLambda)) instances.push_back(facts.id);
  ASSERT_EQ(instances.size(), 2u);
  EXPECT_NE(instances[0], instances[1]);
  EXPECT_THAT(events_of(unit, "f"), testing::HasSubstr("callback f::lambda#1"));
}

TEST(Identity, DependentRangeForHasNoGraphButItsInstanceHas) {
  const UnitFacts unit = facts_of(
      "int s; template <class T> void f(T& a) { for (auto& x : a) s += x; } void g(int (&v)[2]) { f(v); }");
  const FunctionFacts& pattern = function(unit, "f");
  EXPECT_TRUE(pattern.has(kDependent));
  if (pattern.has(kNoCfg)) {
    EXPECT_EQ(pattern.blocks.size(), 1u);
  }
  EXPECT_GT(function(unit, "f<int[2]>").blocks.size(), 3u);
  EXPECT_THAT(events_of(unit, "f<int[2]>"), testing::HasSubstr("write s"));
}

TEST(Identity, EqualSourceEqualFacts) { EXPECT_EQ(facts_of(kZoo), facts_of(kZoo)); }

TEST(Identity, BrokenCodeIsMarkedAndSurvived) {
  // Redefinitions and odd but legal code must not confuse the collector.
  const UnitFacts unit = facts_of(
      "extern \"C\" { int c_function(void) { return 1; } } int f() try { return c_function(); } catch (...) "
      "{ return 0; }"
      " template <class...> struct V; template <class T> struct V<T> { int m() { return 1; } }; int g() { "
      "return V<int>().m(); }");
  EXPECT_TRUE(has_function(unit, "c_function"));
  EXPECT_TRUE(has_function(unit, "V<int>::m"));
  EXPECT_THAT(function(unit, "c_function").linkage_names, ElementsAre("c_function"));
}

TEST(Points, BlocksKnowWhereTheyStand) {
  const UnitFacts unit = facts_of("int f(int a) {\n  if (a > 1)\n    return a * 2;\n  return 0;\n}\n");
  const FunctionFacts& f = function(unit, "f");
  const FunctionPoints& points = unit.points.front();
  ASSERT_EQ(points.blocks.size(), f.blocks.size());
  const auto block_with = [&](SourcePoint wanted) {
    std::vector<std::uint32_t> found;
    for (const BlockPoints& block : points.blocks) {
      EXPECT_TRUE(std::is_sorted(block.points.begin(), block.points.end()));
      if (std::binary_search(block.points.begin(), block.points.end(), wanted))
        found.push_back(block.ordinal);
    }
    return found;
  };
  EXPECT_THAT(block_with({1, 5}), ElementsAre(f.entry));
  EXPECT_THAT(block_with({5, 1}), ElementsAre(f.exit));
  const auto condition = block_with({2, 9}), product = block_with({3, 14}), zero = block_with({4, 3});
  ASSERT_EQ(condition.size(), 1u);
  ASSERT_EQ(product.size(), 1u);
  ASSERT_EQ(zero.size(), 1u);
  EXPECT_NE(condition, product);
  EXPECT_NE(product, zero);
  EXPECT_THAT(block_with({2, 3}), ElementsAre(condition[0])) << "the branch itself";
}

TEST(Points, EdgesHaveKindsAndLabels) {
  const UnitFacts unit = facts_of(
      "int f(int a) { switch (a) { case 1: return 1; case 2: return 2; } try { throw a; } catch (int) { "
      "return 3; } catch (...) {} return 0; }");
  std::vector<EdgeKind> kinds;
  std::set<std::uint64_t> cases;
  for (const Block& block : function(unit, "f").blocks)
    for (const Edge& edge : block.successors) {
      kinds.push_back(edge.kind);
      if (edge.kind == EdgeKind::Case) cases.insert(edge.label);
    }
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), EdgeKind::Case), 2);
  EXPECT_EQ(cases.size(), 2u);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), EdgeKind::Default), 1);
  EXPECT_GE(std::count(kinds.begin(), kinds.end(), EdgeKind::Exception), 3) << "the throw and two handlers";
}

}  // namespace
}  // namespace simrt::analysis
