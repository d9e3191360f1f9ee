// What changes a function's hash and what does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extract_testing.h"

namespace simrt::analysis {
namespace {

struct Edit {
  const char* what;
  const char* before;
  const char* after;
  const char* function = "f";
};

void PrintTo(const Edit& edit, std::ostream* out) { *out << edit.what; }

std::uint64_t body_of(const char* code, const char* name) { return function(facts_of(code), name).body; }

class Harmless : public testing::TestWithParam<Edit> {};
TEST_P(Harmless, KeepsTheHash) {
  const Edit& edit = GetParam();
  EXPECT_EQ(body_of(edit.before, edit.function), body_of(edit.after, edit.function)) << edit.what;
}

class Harmful : public testing::TestWithParam<Edit> {};
TEST_P(Harmful, ChangesTheHash) {
  const Edit& edit = GetParam();
  EXPECT_NE(body_of(edit.before, edit.function), body_of(edit.after, edit.function)) << edit.what;
}

const Edit kHarmless[] = {
    {"comments", "int f(int a) { return a + 1; }",
     "// why\nint f(int a) { /* how */ return a + 1;  // done\n}"},
    {"formatting", "int g; int f(int a) { if (a) g = a; return a; }",
     "int g;\nint f(int a)\n{\n  if (a)\n    g = a;\n\n  return a;\n}"},
    {"redundant parentheses", "int f(int a) { return a + 1 * 2; }", "int f(int a) { return (a + (1 * 2)); }"},
    {"moved behind another function", "int f(int a) { return a; } int g() { return 1; }",
     "int g() { return 1; }\n\nint f(int a) { return a; }"},
    {"renamed parameter", "int f(int a, int b) { return a - b; }",
     "int f(int first, int second) { return first - second; }"},
    {"renamed locals", "int f(int a) { int x = a; int y = x * 2; return x + y; }",
     "int f(int a) { int y = a; int z = y * 2; return y + z; }"},
    {"renamed loop variables",
     "int s; void f(int (&v)[3]) { for (int x : v) s += x; for (int i = 0; i < 3; ++i) s -= v[i]; }",
     "int s; void f(int (&v)[3]) { for (int each : v) s += each; for (int k = 0; k < 3; ++k) s -= v[k]; }"},
    {"static_assert and aliases in the body", "int f() { return 1; }",
     "int f() { static_assert(sizeof(int) == 4); using T = int; return 1; }", "f"},
    {"__LINE__", "void log(int, const char*); void f() { log(__LINE__, __FILE__); }",
     "void log(int, const char*);\n\n\nvoid f() { log(__LINE__, __FILE__); }"},
    {"stringified text of a renamed local",
     "void fail(const char*);\n#define CHECK(x) ((x) ? (void)0 : fail(#x))\nvoid f(int a) { CHECK(a > 1); }",
     "void fail(const char*);\n#define CHECK(x) ((x) ? (void)0 : fail(#x))\nvoid f(int renamed) { "
     "CHECK(renamed  >  1); }"},
    {"assert", "#include <cassert>\nvoid f(int a) { assert(a>1); }",
     "#include <cassert>\n\n\nvoid f(int longer) { assert(longer > 1); }"},
    {"renamed macro parameter", "#define ADD(x) ((x) + 1)\nint f(int a) { return ADD(a); }",
     "#define ADD(value) ((value) + 1)\nint f(int a) { return ADD(a); }"},
    {"macro written out", "#define ADD(x) ((x) + 1)\nint f(int a) { return ADD(a); }",
     "int f(int a) { return a + 1; }"},
    {"inactive code", "int f() { return 1; }", "int f() {\n#if 0\n  return 2;\n#endif\n  return 1; }"},
    {"lambda parameter renamed", "void run(void (*)(int)); int g; void f() { run([](int a) { g = a; }); }",
     "void run(void (*)(int)); int g; void f() { run([](int value) { g = value; }); }", "f::lambda#0"},
    {"captured variable renamed",
     "template <class F> void run(F f) { f(); } int f(int a) { int b = a; run([&b] { ++b; }); return b; }",
     "template <class F> void run(F f) { f(); } int f(int a) { int c = a; run([&c] { ++c; }); return c; }"},
    {"local class moved in the file", "int f() { struct S { int v; } s{1}; return s.v; }",
     "int unrelated;\nint f() { struct S { int v; } s{1}; return s.v; }"},
    {"pattern unaffected by a new operator", "template <class T> bool f(T a, T b) { return a == b; }",
     "struct X {}; bool operator==(X, X); template <class T> bool f(T a, T b) { return a == b; }"},
    {"argument name in a declaration", "int g(int a); int f() { return g(1); }",
     "int g(int renamed); int f() { return g(1); }"},
};
INSTANTIATE_TEST_SUITE_P(Edits, Harmless, testing::ValuesIn(kHarmless));

const Edit kHarmful[] = {
    {"constant of an if constexpr", "constexpr bool on = true; int g; void f() { if constexpr (on) g = 1; }",
     "constexpr bool on = false; int g; void f() { if constexpr (on) g = 1; }"},
    {"literal", "int f() { return 1; }", "int f() { return 2; }"},
    {"string", "const char* f() { return \"a\"; }", "const char* f() { return \"b\"; }"},
    {"string around a made-up piece", "const char* f() { return \"a\" __FILE__; }",
     "const char* f() { return \"b\" __FILE__; }"},
    {"operator", "int f(int a, int b) { return a + b; }", "int f(int a, int b) { return a - b; }"},
    {"operand order", "int f(int a, int b) { return a - b; }", "int f(int a, int b) { return b - a; }"},
    {"parameter order", "int f(int a, int b) { return a - b; }", "int f(int b, int a) { return a - b; }"},
    {"other local used", "int f(int a) { int x = a, y = a + 1; return x; }",
     "int f(int a) { int x = a, y = a + 1; return y; }"},
    {"local's type", "int f(int a) { int x = a; return x; }", "int f(int a) { long x = a; return x; }"},
    {"local made static", "int f() { int x = 0; return ++x; }", "int f() { static int x = 0; return ++x; }"},
    {"local made thread_local", "int f() { static int x = 0; return ++x; }",
     "int f() { static thread_local int x = 0; return ++x; }"},
    {"statement added", "int g; void f() { g = 1; }", "int g; void f() { g = 1; ++g; }"},
    {"statements swapped", "int g, h; void f() { g = 1; h = 1; }", "int g, h; void f() { h = 1; g = 1; }"},
    {"callee", "int a(); int b(); int f() { return a(); }", "int a(); int b(); int f() { return b(); }"},
    {"overload", "int a(int); int a(long); int f() { return a(1); }",
     "int a(int); int a(long); int f() { return a(1L); }"},
    {"default argument", "int a(int = 1); int f() { return a(); }",
     "int a(int = 2); int f() { return a(); }"},
    {"default member initialiser", "struct S { S(); int v = 1; }; S::S() {}",
     "struct S { S(); int v = 2; }; S::S() {}", "S::S"},
    {"default member initialiser of an aggregate", "struct S { int v = 1; }; S f() { return S{}; }",
     "struct S { int v = 2; }; S f() { return S{}; }"},
    {"enumerator's value", "enum E { A = 1 }; int f() { return A; }",
     "enum E { A = 2 }; int f() { return A; }"},
    {"constant's value", "const int k = 1; int f(int a) { return a + k; }",
     "const int k = 2; int f(int a) { return a + k; }"},
    {"constexpr value",
     "constexpr long k() { return 1; } constexpr long v = k(); long f(long a) { return a + v; }",
     "constexpr long k() { return 2; } constexpr long v = k(); long f(long a) { return a + v; }"},
    {"constant of a class", "struct P { int a, b; }; constexpr P p{1, 2}; int f() { return p.b; }",
     "struct P { int a, b; }; constexpr P p{1, 3}; int f() { return p.b; }"},
    {"macro", "#define K 1\nint f() { return K; }", "#define K 2\nint f() { return K; }"},
    {"token-pasted literal", "#define HEX(x) 0x##x\nint f() { return HEX(1); }",
     "#define HEX(x) 0x##x\nint f() { return HEX(2); }"},
    {"type of a global", "int g; void f() { g = 1; }", "long g; void f() { g = 1; }"},
    {"global made volatile", "int g; int f() { return g; }", "volatile int g; int f() { return g; }"},
    {"global made thread_local", "int g; int f() { return g; }", "thread_local int g; int f() { return g; }"},
    {"type of a field", "struct S { int v; }; int f(S& s) { return s.v; }",
     "struct S { short v; }; int f(S& s) { return s.v; }"},
    {"field made mutable", "struct S { int v; }; int f(S& s) { return s.v; }",
     "struct S { mutable int v; }; int f(S& s) { return s.v; }"},
    {"bit-field width", "struct S { int v : 3; }; int f(S& s) { return s.v; }",
     "struct S { int v : 4; }; int f(S& s) { return s.v; }"},
    {"other field", "struct S { int v, w; }; int f(S& s) { return s.v; }",
     "struct S { int v, w; }; int f(S& s) { return s.w; }"},
    {"other object", "struct S { int v; }; int f(S& s, S& t) { return s.v; }",
     "struct S { int v; }; int f(S& s, S& t) { return t.v; }"},
    {"cast", "int f(long a) { return static_cast<int>(a); }",
     "int f(long a) { return static_cast<short>(a); }"},
    {"sizeof", "int f() { return sizeof(int); }", "int f() { return sizeof(long); }"},
    {"size of a class", "struct S { int a; }; int f() { return sizeof(S); }",
     "struct S { int a, b; }; int f() { return sizeof(S); }"},
    {"condition", "int f(int a) { if (a > 1) return 1; return 2; }",
     "int f(int a) { if (a >= 1) return 1; return 2; }"},
    {"if to while", "int g; void f(int a) { if (a) ++g; }", "int g; void f(int a) { while (a) ++g; }"},
    {"and to or", "int f(bool a, bool b) { return a && b; }", "int f(bool a, bool b) { return a || b; }"},
    {"case value", "int f(int a) { switch (a) { case 1: return 1; } return 0; }",
     "int f(int a) { switch (a) { case 2: return 1; } return 0; }"},
    {"case range", "int f(int a) { switch (a) { case 1 ... 3: return 1; } return 0; }",
     "int f(int a) { switch (a) { case 1 ... 4: return 1; } return 0; }"},
    {"break added", "int g; void f(int a) { switch (a) { case 1: g = 1; default: g = 2; } }",
     "int g; void f(int a) { switch (a) { case 1: g = 1; break; default: g = 2; } }"},
    {"goto target", "int g; void f() { goto b; a: g = 1; b: g = 2; }",
     "int g; void f() { goto a; a: g = 1; b: g = 2; }"},
    {"catch body", "int g; void h(); void f() { try { h(); } catch (int) { g = 1; } }",
     "int g; void h(); void f() { try { h(); } catch (int) { g = 2; } }"},
    {"caught type", "int g; void h(); void f() { try { h(); } catch (int) { g = 1; } }",
     "int g; void h(); void f() { try { h(); } catch (long) { g = 1; } }"},
    {"thrown value", "void f() { throw 1; }", "void f() { throw 2; }"},
    {"method made virtual", "struct S { void m(); }; void f(S& s) { s.m(); }",
     "struct S { virtual void m(); }; void f(S& s) { s.m(); }"},
    {"qualified call", "struct S { virtual void m(); }; void f(S& s) { s.m(); }",
     "struct S { virtual void m(); }; void f(S& s) { s.S::m(); }"},
    {"member initialiser", "struct S { S(int a) : v(a) {} int v; };",
     "struct S { S(int a) : v(a + 1) {} int v; };", "S::S"},
    {"destructor of a local", "struct A { ~A(); }; struct B { ~B(); }; void f() { A a; }",
     "struct A { ~A(); }; struct B { ~B(); }; void f() { B a; }"},
    {"member's destructor", "struct A { ~A(); }; struct S { A a; ~S() {} };",
     "struct A { ~A(); }; struct B { ~B(); }; struct S { B a; ~S() {} };", "S::~S"},
    {"new and delete", "void f(int* p) { delete p; }", "void f(int* p) { delete[] p; }"},
    {"capture by copy",
     "template <class F> void run(F f) { f(); } int f(int a) { run([&] { return a; }); return a; }",
     "template <class F> void run(F f) { f(); } int f(int a) { run([=] { return a; }); return a; }"},
    {"template pattern", "template <class T> T f(T a) { return a + 1; }",
     "template <class T> T f(T a) { return a + 2; }"},
    {"template argument", "template <int N> int g() { return N; } int f() { return g<1>(); }",
     "template <int N> int g() { return N; } int f() { return g<2>(); }"},
    {"dependent member", "template <class T> void f(T& a) { a.x(); }",
     "template <class T> void f(T& a) { a.y(); }"},
    {"dependent range-for body", "int g; template <class T> void f(T& a) { for (auto& x : a) g += x; }",
     "int g; template <class T> void f(T& a) { for (auto& x : a) g -= x; }"},
    {"initialiser of a global", "int g = 1;", "int g = 2;", "initialiser of g"},
    {"table", "const int t[] = {1, 2, 3};", "const int t[] = {1, 2, 4};", "initialiser of t"},
    {"field initialised in a global", "struct S { int a, b; }; S s = {1, 2};",
     "struct S { int a, b; }; S s = {2, 1};", "initialiser of s"},
    {"inline assembly", "void f() { asm volatile(\"nop\"); }", "void f() { asm volatile(\"pause\"); }"},
    {"type trait", "bool f() { return __is_class(int); }", "bool f() { return __is_integral(int); }"},
};
INSTANTIATE_TEST_SUITE_P(Edits, Harmful, testing::ValuesIn(kHarmful));

TEST(Hash, LambdaBodyIsAFunctionOfItsOwn) {
  const char* before = "template <class F> void run(F f) { f(); } int g; void f() { run([] { g = 1; }); }";
  const char* after = "template <class F> void run(F f) { f(); } int g; void f() { run([] { g = 2; }); }";
  EXPECT_EQ(body_of(before, "f"), body_of(after, "f"));
  EXPECT_NE(body_of(before, "f::lambda#0"), body_of(after, "f::lambda#0"));
}

TEST(Hash, InsertedLambdaLeavesTheOthersAlone) {
  const UnitFacts before =
      facts_of("template <class F> void run(F f) { f(); } int g; void f() { run([] { g = 1; }); }");
  const UnitFacts after = facts_of(
      "template <class F> void run(F f) { f(); } int g; void f() { run([] { g = 7; }); run([] { g = 1; }); "
      "}");
  EXPECT_EQ(function(before, "f::lambda#0").body, function(after, "f::lambda#1").body);
  // The element that hands over the old lambda is the same one.
  const auto hash_of_last_call = [](const UnitFacts& unit) {
    std::vector<std::uint64_t> hashes;
    for (const Block& block : function(unit, "f").blocks)
      for (const Element& element : block.elements) hashes.push_back(element.hash);
    return hashes.back();
  };
  EXPECT_EQ(hash_of_last_call(before), hash_of_last_call(after));
}

TEST(Hash, ElementsSayWhichLocalsTheyMention) {
  const UnitFacts unit = facts_of("void f(int a) { int x = a; int y = x; x = y + a; }");
  const FunctionFacts& f = function(unit, "f");
  ASSERT_EQ(f.locals.size(), 3u);
  EXPECT_TRUE(f.locals[0].parameter);
  EXPECT_EQ(f.locals[1].name, "x");
  const Block& body = f.blocks[1];
  ASSERT_EQ(body.elements.size(), 3u);
  EXPECT_THAT(body.elements[0].locals, testing::ElementsAre(1, 0));
  EXPECT_THAT(body.elements[0].defines, testing::ElementsAre(1));
  EXPECT_THAT(body.elements[0].uses, testing::ElementsAre(0));
  EXPECT_THAT(body.elements[2].locals, testing::ElementsAre(1, 2, 0));
  EXPECT_THAT(body.elements[2].defines, testing::ElementsAre(1));
  EXPECT_THAT(body.elements[2].uses, testing::ElementsAre(0, 2));
  EXPECT_EQ(body.elements[0].hash, body.elements[1].hash)
      << "`int x = a` and `int y = x` differ in their locals only";
}

TEST(Hash, ValuesFlowBetweenElementsThroughTemporaries) {
  const UnitFacts unit = facts_of("int g(int); int h(int); int f(int a) { return h(g(a)); }");
  const Block& body = function(unit, "f").blocks[1];
  ASSERT_EQ(body.elements.size(), 3u);
  EXPECT_EQ(body.elements[0].defines, body.elements[1].uses);
  EXPECT_EQ(body.elements[1].defines, body.elements[2].uses);
  EXPECT_TRUE(function(unit, "f").locals[body.elements[0].defines[0]].name.empty());
}

TEST(Hash, SignatureCoversTypeAndKind) {
  const auto signature = [](const char* code) { return function(facts_of(code), "S::m").signature; };
  const std::uint64_t plain = signature("struct S { void m() {} };");
  EXPECT_EQ(plain, signature("struct S { int unrelated; void m() {} };"));
  EXPECT_NE(plain, signature("struct S { void m() const {} };"));
  EXPECT_NE(plain, signature("struct S { virtual void m() {} };"));
  EXPECT_NE(plain, signature("struct S { static void m() {} };"));
  EXPECT_NE(plain, signature("struct S { void m() noexcept {} };"));
  EXPECT_NE(plain, signature("struct S { int m() { return 0; } };"));
}

}  // namespace
}  // namespace simrt::analysis
