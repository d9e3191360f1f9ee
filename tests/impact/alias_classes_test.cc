#include "impact/alias_classes.h"

#include <gtest/gtest.h>

#include "impact/place_types.h"
#include "program_text.h"

namespace simrt::impact {
namespace {

class Aliases {
 public:
  explicit Aliases(const std::string& text)
      : program_(parse_program(text)), index_(program_), calls_(index_), aliases_(index_, calls_) {}

  bool same(const Place& a, const Place& b) const {
    return aliases_.class_of(a) == aliases_.class_of(b) &&
           AliasClasses::may_alias(aliases_.type_of(a), aliases_.type_of(b));
  }
  std::uint64_t class_of(const Place& place) const { return aliases_.class_of(place); }

 private:
  Program program_;
  ProgramIndex index_;
  CallGraph calls_;
  AliasClasses aliases_;
};

Place global(const std::string& name, std::uint8_t derefs = 0) { return {variable_id(name), derefs, {}}; }
Place parameter(const std::string& function, std::uint32_t index, std::uint8_t derefs) {
  return {parameter_of(function_id(function), index), derefs, {}};
}
Place local(const std::string& function, std::uint32_t ordinal, std::uint8_t derefs) {
  return {local_of(function_id(function), ordinal), derefs, {}};
}

TEST(AliasClasses, FieldWithoutAddressTakenIsItsOwnClass) {
  const Aliases aliases(
      "var S::a int\nvar S::b int\nfn f()\nB1 -> B0\n  W this.S::a; bind this.S::a := this.S::b\n");
  EXPECT_FALSE(aliases.same(global("S::a"), global("S::b")));
  EXPECT_EQ(aliases.class_of(global("S::a")), variable_id("S::a").value);
}

TEST(AliasClasses, AddressTaken) {
  const Aliases aliases("var x int\nvar y int\nfn f() p\nB1 -> B0\n  bind p := &x; W p*\n");
  EXPECT_TRUE(aliases.same(local("f", 0, 1), global("x")));
  EXPECT_FALSE(aliases.same(local("f", 0, 1), global("y")));
}

TEST(AliasClasses, PointerCopiedSharesThePointee) {
  const Aliases aliases(
      "var table Entry**\nfn f() t\nB1 -> B0\n  bind t := table\nfn g() t\nB1 -> B0\n  bind t := table\n");
  EXPECT_TRUE(aliases.same(local("f", 0, 1), local("g", 0, 1)));
  EXPECT_TRUE(aliases.same(local("f", 0, 1), global("table", 1)));
  EXPECT_FALSE(aliases.same(local("f", 0, 0), global("table")));
}

TEST(AliasClasses, ArgumentsReachParametersOfEveryPossibleCallee) {
  const Aliases aliases(
      "var x int\nvar y int\nfn A::f(p)\nB1 -> B0\n  W p*\nfn B::f(p) overrides=A::f\nB1 -> B0\n  W p*\n"
      "fn use()\nB1 -> B0\n  vcall A::f(&x)\nfn other(q)\nB1 -> B0\n  W q*\nfn use2()\nB1 -> B0\n  call "
      "other(&y)\n");
  EXPECT_TRUE(aliases.same(parameter("B::f", 0, 1), global("x")));
  EXPECT_TRUE(aliases.same(parameter("A::f", 0, 1), global("x")));
  EXPECT_FALSE(aliases.same(parameter("other", 0, 1), global("x")));
}

TEST(AliasClasses, ResultsFlowToCallers) {
  const Aliases aliases(
      "var x int\nfn get()\nB1 -> B0\n  bind return := &x\nfn use() p\nB1 -> B0\n  call get(); bind p := "
      "return:get\n");
  EXPECT_TRUE(aliases.same(local("use", 0, 1), global("x")));
}

TEST(AliasClasses, ThreadEntryAndCallbackParameters) {
  const Aliases aliases(
      "var x int\nvar y int\nfn run(p)\nB1 -> B0\n  W p*\nfn start()\nB1 -> B0\n  spawn run(&x)\n"
      "fn cb(q)\nB1 -> B0\n  W q*\nfn set()\nB1 -> B0\n  cb cb(); call external_register(0, &y)\n");
  EXPECT_TRUE(aliases.same(parameter("run", 0, 1), global("x")));
  EXPECT_TRUE(aliases.same(parameter("cb", 0, 1), global("y")));
  EXPECT_FALSE(aliases.same(global("x"), global("y")));
}

TEST(AliasClasses, ExternalResultAliasesItsOwnArgumentsOnly) {
  const Aliases aliases(
      "var x int\nvar y int\nfn f() p\nB1 -> B0\n  call choose(&x); bind p := return:choose\n"
      "fn g() q\nB1 -> B0\n  call choose(&y); bind q := return:choose\n");
  EXPECT_TRUE(aliases.same(local("f", 0, 1), global("x")));
  EXPECT_TRUE(aliases.same(local("g", 0, 1), global("y")));
  EXPECT_FALSE(aliases.same(global("x"), global("y")));
  EXPECT_FALSE(aliases.same(local("f", 0, 1), local("g", 0, 1)));
}

TEST(AliasClasses, AllocationsAreNotOneHub) {
  const Aliases aliases(
      "fn f() p\nB1 -> B0\n  call malloc(0); bind p := return:malloc\nfn g() q\nB1 -> B0\n  call malloc(0); "
      "bind q := return:malloc\n");
  EXPECT_FALSE(aliases.same(local("f", 0, 1), local("g", 0, 1)));
}

TEST(AliasClasses, StringsKeepNoAddresses) {
  const Aliases aliases(
      "var log std::string\nvar name std::string\nvar title std::string\n"
      "fn f()\nB1 -> B0\n  call append(&name) on &log\n  call append(&title) on &log\n");
  EXPECT_FALSE(aliases.same(global("name"), global("title")));
}

TEST(AliasClasses, ContainersOfPointersKeepThem) {
  const Aliases aliases(
      "var list std::vector<int*>\nvar x int\nfn f()\nB1 -> B0\n  call push_back(&x) on &list\nfn g()\nB1 -> "
      "B0\n  W list**\n");
  EXPECT_TRUE(aliases.same(global("list", 2), global("x")));
}

TEST(AliasClasses, CyclicStructuresEnd) {
  const Aliases aliases("var head Node*\nfn f() p\nB2 -> B2 T, B0 F\n  bind p := p*; bind p := &p\n");
  EXPECT_TRUE(aliases.same(local("f", 0, 1), local("f", 0, 2)));
}

TEST(AliasClasses, DifferentScalarTypesAreDifferentMemory) {
  const Aliases aliases(
      "var n int\nvar d double\nvar u unsigned_int\nvar c char\nfn f() p\nB1 -> B0\n  bind p := &n; bind p "
      ":= &d; bind p := &c; bind p := &u\n");
  EXPECT_FALSE(aliases.same(global("n"), global("d")));
  EXPECT_TRUE(aliases.same(global("n"), global("u")));  // signedness does not matter
  EXPECT_TRUE(aliases.same(global("n"), global("c")));  // char may be anything
  EXPECT_TRUE(aliases.same(global("d"), local("f", 0, 1)));
}

TEST(PlaceTypes, Shapes) {
  EXPECT_EQ(shape_of("const int"), TypeShape::Scalar);
  EXPECT_EQ(shape_of("std::atomic<long>"), TypeShape::Scalar);
  EXPECT_EQ(shape_of("unsigned char"), TypeShape::Bytes);
  EXPECT_EQ(shape_of("Node *const"), TypeShape::Pointer);
  EXPECT_EQ(shape_of("std::unique_ptr<Node>"), TypeShape::Owner);
  EXPECT_EQ(shape_of("std::basic_string<char>"), TypeShape::Text);
  EXPECT_EQ(shape_of("std::vector<std::basic_string<char>>"), TypeShape::Class);
  EXPECT_EQ(shape_of(""), TypeShape::Unknown);
  EXPECT_EQ(referred_type("const Node *"), "Node");
  EXPECT_EQ(referred_type("int &&"), "int");
  EXPECT_EQ(referred_type("int[8]"), "int");
  EXPECT_EQ(referred_type("int"), "");
}

TEST(AliasClasses, ResultDoesNotDependOnTheOrderOfFunctions) {
  const std::string a = "fn a(p)\nB1 -> B0\n  bind q := p\n", b = "fn b(r)\nB1 -> B0\n  call a(r)\n",
                    head = "var q int*\n";
  EXPECT_EQ(Aliases(head + a + b).class_of(global("q", 1)), Aliases(head + b + a).class_of(global("q", 1)));
}

}  // namespace
}  // namespace simrt::impact
