// Accesses, value flow and calls: what each form of expression says about memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extract_testing.h"

namespace simrt::analysis {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Fields, WhichShareMemory) {
  const UnitFacts unit = facts_of(R"(
union Word { int whole; short half; };
struct Plain { int a; int b; };
struct Flags { int a : 1; int b : 2; int : 0; int c : 3; int d; int e : 4; int f : 5; };
struct Mixed { int tag; union { struct { int x; int y; }; long xy; }; };
void use(Word* w, Plain* p, Flags* f, Mixed* m) {
  w->whole = w->half = 1;
  p->a = p->b = 1;
  f->a = f->b = f->c = f->d = f->e = f->f = 1;
  m->tag = m->x = m->y = 1; m->xy = 2;
}
)");
  const auto shares = [&](const char* name) {
    for (const VariableFacts& facts : unit.variables)
      if (facts.name.ends_with(name)) return facts.shares;
    ADD_FAILURE() << name;
    return std::uint64_t{0};
  };
  EXPECT_NE(shares("Word::whole"), 0U);
  EXPECT_EQ(shares("Word::whole"), shares("Word::half"));
  EXPECT_EQ(shares("Plain::a"), 0U);
  EXPECT_EQ(shares("Flags::a"), shares("Flags::b"));
  EXPECT_NE(shares("Flags::a"), shares("Flags::c"));
  EXPECT_EQ(shares("Flags::d"), 0U);
  EXPECT_EQ(shares("Flags::e"), shares("Flags::f"));
  EXPECT_NE(shares("Flags::c"), shares("Flags::e"));
  EXPECT_EQ(shares("Mixed::tag"), 0U);
  EXPECT_EQ(shares("::x"), shares("::xy"));
  EXPECT_EQ(shares("::y"), shares("::xy"));
}

TEST(Memory, ReadAndWriteInEvaluationOrder) {
  const UnitFacts unit = facts_of("int g, h; void f() { g++; g += h; g = g + h; }");
  EXPECT_THAT(event_lines(unit, "f"), ElementsAre("read g", "write g",              // g++
                                                  "read h", "read g", "write g",    // g += h
                                                  "read g", "read h", "write g"));  // g = g + h
}

constexpr const char* kNode = R"(
struct Inner { int x; int arr[4]; };
struct Node { Node* next; int value; Inner inner; Inner* ip; union { int u1; int u2; }; };
)";

TEST(Memory, FieldsAreFieldBasedWithTheirPath) {
  const UnitFacts unit = facts_of(std::string(kNode) +
                                  "void f(Node* n, Node& r) { n->next->value = 1; r.inner.x = "
                                  "n->inner.arr[2]; n->ip->x++; n->u1 = 4; (*n).value = 5; }");
  EXPECT_THAT(event_lines(unit, "f"),
              ElementsAre("read Node::next of p0", "write Node::value of p0->next",       //
                          "read *Inner::arr of p0->inner", "write Inner::x of p1.inner",  //
                          "read Node::ip of p0", "read Inner::x of p0->ip", "write Inner::x of p0->ip",
                          "write Node::(anonymous union)::u1 of p0",  //
                          "write Node::value of p0"));
}

TEST(Memory, ElementsAreBehindTheVariable) {
  const UnitFacts unit = facts_of(
      "int table[8]; void f(int i, int* p, int** pp) { table[i] = p[i]; *p = 1; **pp = 2; *(p + 1) = 4; p++; "
      "}");
  EXPECT_THAT(event_lines(unit, "f"), ElementsAre("read *f()::p", "write *table", "write *f()::p",
                                                  "read *f()::pp", "write **f()::pp", "write *f()::p"));
}

TEST(Memory, PlainLocalsAreNoEventsAndEscapingOnesAre) {
  const UnitFacts unit = facts_of(
      "void sink(int*); int g; void f(int a) { int x = a; x++; int y[2] = {x, g}; y[1] = 2; int z = 1; "
      "sink(&z); z = 3; }");
  EXPECT_THAT(event_lines(unit, "f"), ElementsAre("read g", "write f()::z [own-constructor]",
                                                  "call direct sink (&f()::z)", "write f()::z"));
  const FunctionFacts& f = function(unit, "f");
  EXPECT_FALSE(f.locals[1].escapes);
  EXPECT_TRUE(f.locals[3].escapes);
}

TEST(Memory, ReferencesAreDerefsOfTheReference) {
  const UnitFacts unit = facts_of(
      "int g; int& pick(bool b, int& l, int& r) { return b ? l : r; } void f() { int& r = g; r = 1; "
      "pick(true, g, r) = 2; }");
  EXPECT_THAT(event_lines(unit, "pick"),
              ElementsAre("bind pick::return := &*pick()::l", "bind pick::return := &*pick()::r"));
  EXPECT_THAT(event_lines(unit, "f"),
              ElementsAre("bind f()::r := &g", "write *f()::r", "call direct pick (?, &g, &*f()::r)",
                          "write *pick::return"));
}

TEST(Memory, PointersFlow) {
  const UnitFacts unit = facts_of(std::string(kNode) + R"(
Node* root; Node* make();
void f(Node* n, bool b) { root = n; n->next = root; Node* l = b ? n : make(); n->ip = &l->inner; Node* fresh = new Node; root = fresh; }
Node* g() { return root; }
)");
  EXPECT_THAT(event_lines(unit, "f"),
              ElementsAre("write root", "bind root := f()::n",                                         //
                          "read root", "write Node::next of p0", "bind Node::next of p0 := root",      //
                          "call direct make", "bind f()::l := f()::n", "bind f()::l := make::return",  //
                          "write Node::ip of p0", "bind Node::ip of p0 := &Node::inner of l2",         //
                          "write root", "bind root := f()::fresh"));
  EXPECT_THAT(event_lines(unit, "g"), ElementsAre("read root", "bind g::return := root"));
}

TEST(Memory, PlacementNewWritesWhereItIsTold) {
  const UnitFacts unit = facts_of(R"(
using size_t = decltype(sizeof 0);
void* operator new(size_t, void* p) noexcept; namespace std { struct nothrow_t {}; extern const nothrow_t nothrow; }
void* operator new(size_t, const std::nothrow_t&) noexcept;
struct Plain { int a, b; }; struct Made { Made(int v) : x(v) {} int x; };
template <class T> struct Slot {
  template <class... A> void construct(A&&... args) { new (&storage) T(static_cast<A&&>(args)...); }
  alignas(T) unsigned char storage[sizeof(T)];
};
int g; Plain* shared;
void f(Slot<int>& s, Slot<Made>& m, Made* p) { s.construct(g); m.construct(1); new (p) Made(g); }
void fresh() { int* one = new int(g); Made* other = new (std::nothrow) Made(1); new Plain; }
void raw(void* p, Plain* q) { new (p) Plain; shared = new (q) Plain{g, 2}; new (p) int(3); }
)");
  EXPECT_THAT(event_lines(unit, "f"),
              ElementsAre("call direct &*f()::s . Slot<int>::construct<int &> (&g)",
                          "call direct &*f()::m . Slot<Made>::construct<int> (?)", "read g",
                          "call direct &*f()::p . Made::Made (g)", "write *f()::p", "write Made::x of p2"));
  EXPECT_THAT(event_lines(unit, "fresh"), ElementsAre("read g", "call direct Made::Made (?)"));
  EXPECT_THAT(event_lines(unit, "raw"),
              ElementsAre("read g", "write *raw()::q", "write Plain::a of p1", "write Plain::b of p1",
                          "write shared", "bind shared := raw()::q", "write *raw()::p"));
  EXPECT_THAT(event_lines(unit, "Slot<int>::construct<int &>"), Contains("write Slot::storage of this"));
  EXPECT_THAT(event_lines(unit, "Slot<Made>::construct<int>"), Contains("write Slot::storage of this"));
}

TEST(Memory, Tags) {
  const UnitFacts unit = facts_of(R"(
thread_local int tls; volatile int vol; extern const int fixed; constexpr int kValue = 4;
struct S { S() : a(1) { b = a; } ~S() { a = 0; } int m() const { cache = 1; return c + a; } int a, b; const int c = 2; mutable int cache; };
void f() { tls = vol; vol = fixed + kValue; }
)");
  EXPECT_THAT(event_lines(unit, "f"), ElementsAre("read vol [volatile]", "write tls [thread-local]",
                                                  "read fixed [const]", "write vol [volatile]"))
      << "a compile-time constant is not read";
  EXPECT_THAT(
      event_lines(unit, "S::S"),
      ElementsAre("write S::a of this [own-constructor]", "write S::c of this [own-constructor] [const]",
                  "read S::a of this [own-constructor]", "write S::b of this [own-constructor]"));
  EXPECT_THAT(event_lines(unit, "S::~S"), ElementsAre("write S::a of this [own-constructor]"));
  EXPECT_THAT(event_lines(unit, "S::m"), ElementsAre("write S::cache of this", "read S::c of this [const]",
                                                     "read S::a of this", "bind S::m::return := ?"));
}

TEST(Memory, StaticLocalsAndGlobalInitialisers) {
  const UnitFacts unit = facts_of(
      "int next(); int g = next(); void f() { static int plain = 1; static int guarded = next(); plain++; }");
  EXPECT_THAT(event_lines(unit, "f"), ElementsAre("call direct next", "static-init f()::guarded",
                                                  "read f()::plain", "write f()::plain"));
  EXPECT_THAT(event_lines(unit, "initialiser of g"),
              ElementsAre("call direct next", "write g [own-constructor]"));
  EXPECT_EQ(variable(unit, "f()::plain").kind, VariableKind::Global);
}

TEST(Memory, CapturesNameTheEnclosingFunctionsMemory) {
  const UnitFacts unit = facts_of(R"(
template <class F> void run(F f) { f(); }
struct S { void m(int* p) { int x = 0, y = 1; run([&x, y, p, this]() mutable { x++; y++; *p = y; v = x; }); run([q = p] { *q = 1; }); } int v; };
)");
  EXPECT_THAT(
      event_lines(unit, "S::m::lambda#0"),
      ElementsAre("read S::m()::x", "write S::m()::x",                      // by reference: the local of m
                  "read S::m::lambda#0()::y", "write S::m::lambda#0()::y",  // by copy: the closure's own
                  "read S::m::lambda#0()::y", "read S::m::lambda#0()::p", "write *S::m::lambda#0()::p",
                  "read S::m()::x", "write S::v of this"));
  EXPECT_THAT(event_lines(unit, "S::m"), Contains("bind S::m::lambda#0()::y := ?"));
  EXPECT_THAT(event_lines(unit, "S::m"), Contains("bind S::m::lambda#0()::p := S::m()::p"));
  EXPECT_THAT(event_lines(unit, "S::m"), Contains("bind S::m::lambda#1()::q := S::m()::p"));
  EXPECT_THAT(event_lines(unit, "S::m::lambda#1"), ElementsAre("write *S::m::lambda#1()::q"));
}

TEST(Memory, NestedLambdasReachThrough) {
  const UnitFacts unit = facts_of(
      "template <class F> void run(F f) { f(); } void f() { int x = 0; run([&] { run([&] { x = 1; }); }); }");
  EXPECT_THAT(event_lines(unit, "f::lambda#0::lambda#0"), ElementsAre("write f()::x"));
  EXPECT_TRUE(function(unit, "f").locals[0].escapes);
}

constexpr const char* kOwner = R"(
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
struct Node { Node* next; int value; };
struct Owner {
  std::vector<int> ints; std::vector<Node*> nodes; std::map<int, std::string> names; std::unique_ptr<Node> owned;
  std::shared_ptr<Node> shared; std::string text; std::array<int, 4> fixed; std::optional<Node> maybe; std::string_view view;
  void elements(int i, Node* n) { ints[i] = 1; nodes.push_back(n); nodes.back()->value = 2; names[i] = "x"; fixed[0] = 1; maybe->value = 3; }
  void pointers() { owned->value = 4; (*shared).value = 5; auto copy = shared; copy->value = 6; Node* raw = owned.get(); raw->value = 7; owned.reset(); }
  int looks() const { auto it = names.find(3); if (it != names.end()) return it->second.size(); return text.size() + ints.front(); }
  void loops() { for (int i : ints) value += i; for (Node* n : nodes) n->value = 1; for (auto& [k, v] : names) v.clear(); }
  void library() { std::sort(ints.begin(), ints.end()); *std::find(ints.begin(), ints.end(), 3) = 4; std::swap(value, ints[0]); }
  void strings() { view = text; text += "y"; char c = view[0]; (void)c; }
  int value;
};
void parameters(std::vector<int>& v, const std::vector<int>& c) { v.push_back(c[0]); }
void local_container() { std::vector<int> v; v.push_back(1); v[0] = 2; for (int& x : v) x++; }
)";

TEST(Memory, ContainersAreOneObjectPlusElements) {
  const UnitFacts unit = facts_of(kOwner);
  EXPECT_THAT(event_lines(unit, "Owner::elements"),
              ElementsAre("read Owner::ints of this [whole]", "write *Owner::ints of this",  //
                          "write Owner::nodes of this [whole]",
                          "bind *Owner::nodes of this := Owner::elements()::n",  //
                          "read Owner::nodes of this [whole]", "read *Owner::nodes of this",
                          "write Node::value of this->nodes[]", "write Owner::names of this [whole]",
                          "write *Owner::names of this [whole]",                               //
                          "read Owner::fixed of this [whole]", "write *Owner::fixed of this",  //
                          "read Owner::maybe of this [whole]", "write Node::value of this->maybe[]"));
  EXPECT_THAT(event_lines(unit, "parameters"),
              ElementsAre("read *parameters()::c [whole]", "read **parameters()::c",
                          "write *parameters()::v [whole]"));
}

TEST(Memory, SmartPointersArePointers) {
  const UnitFacts unit = facts_of(kOwner);
  EXPECT_THAT(event_lines(unit, "Owner::pointers"),
              ElementsAre("read Owner::owned of this", "write Node::value of this->owned",    //
                          "read Owner::shared of this", "write Node::value of this->shared",  //
                          "read Owner::shared of this",
                          "bind Owner::pointers()::copy := Owner::shared of this", "write Node::value of l0",
                          "read Owner::owned of this", "bind Owner::pointers()::raw := Owner::owned of this",
                          "write Node::value of l1", "write Owner::owned of this"));
}

TEST(Memory, ConstUseOfLibraryObjectsReads) {
  const UnitFacts unit = facts_of(kOwner);
  const std::vector<std::string> lines = event_lines(unit, "Owner::looks");
  for (const std::string& line : lines) EXPECT_THAT(line, Not(HasSubstr("write"))) << line;
  EXPECT_THAT(lines, Contains("read Owner::names of this [whole]"));
  EXPECT_THAT(lines, Contains("read *Owner::looks()::it [whole]"));
  EXPECT_THAT(lines, Contains("bind Owner::looks()::it := &*Owner::names of this"));
  EXPECT_THAT(lines, Contains("read *Owner::ints of this"));
}

TEST(Memory, RangeForTouchesElements) {
  const std::string lines = events_of(facts_of(kOwner), "Owner::loops");
  EXPECT_THAT(lines, HasSubstr("read *Owner::ints of this\n"));
  EXPECT_THAT(lines, HasSubstr("read *Owner::nodes of this\n"));
  EXPECT_THAT(lines, HasSubstr("bind Owner::loops()::n := *Owner::nodes of this\n"));
  EXPECT_THAT(lines, HasSubstr("write *Owner::loops()::v [whole]\n"));
}

TEST(Memory, HiddenVariablesOfARangeForHaveOneNameInATemplateAndItsInstances) {
  const UnitFacts unit = facts_of(
      "struct L { int* begin(); int* end(); };\n"
      "template <class T> int f(T& list) { int n = 0; if (n == 0) { for (int x : list) n += x; } return n; "
      "}\n"
      "int g(L& list) { return f(list); }");
  for (const FunctionFacts& function : unit.functions)
    for (const Local& local : function.locals)
      EXPECT_THAT(local.name, testing::Not(testing::MatchesRegex("__.*[0-9]"))) << function.name;
}

TEST(Memory, ASharedPointerDestroysWhatTheUnitOnlyDeclares) {
  const std::string uses = "struct Owner { std::shared_ptr<ns::Node> node; ~Owner(); }; Owner::~Owner() {}\n";
  const UnitFacts declared = facts_of("#include <memory>\nnamespace ns { struct Node; }\n" + uses);
  const UnitFacts defined =
      facts_of("#include <memory>\nnamespace ns { struct Node { virtual ~Node(); }; }\n" + uses);
  EXPECT_EQ(event_lines(declared, "Owner::~Owner"), event_lines(defined, "Owner::~Owner"));
  EXPECT_THAT(events_of(declared, "Owner::~Owner"), HasSubstr("call virtual"));
  const auto callees = [](const UnitFacts& unit) {
    std::vector<FunctionId> found;
    for (const Block& block : function(unit, "Owner::~Owner").blocks)
      for (const Element& element : block.elements)
        for (const Event& event : element.events)
          if (const auto* call = std::get_if<Call>(&event.what)) found.push_back(call->callee);
    return found;
  };
  EXPECT_EQ(callees(declared), callees(defined));
}

TEST(Memory, LibraryFunctionsTouchWhatTheyAreGiven) {
  const std::string lines = events_of(facts_of(kOwner), "Owner::library");
  EXPECT_THAT(lines, HasSubstr("write *Owner::ints of this\n")) << "std::sort";
  EXPECT_THAT(lines, HasSubstr("write Owner::value of this\n")) << "std::swap";
  const std::vector<std::string> strings = event_lines(facts_of(kOwner), "Owner::strings");
  EXPECT_THAT(strings, Contains("write Owner::text of this [whole]"));
  EXPECT_THAT(strings, Contains("read *Owner::view of this"));
}

TEST(Memory, ContainersOfAFunctionsOwnAreNoEvents) {
  EXPECT_THAT(event_lines(facts_of(kOwner), "local_container"), Not(Contains(HasSubstr("write"))));
}

TEST(Memory, CLibraryFunctions) {
  const UnitFacts unit = facts_of(
      "#include <cstring>\nstruct In { int x; int arr[2]; }; int g; void f(char* b, const char* t, In* in) {"
      " std::memcpy(b, t, 3); g = std::strlen(t); std::memset(in, 0, sizeof *in); std::strcpy(b, \"abc\"); "
      "}");
  EXPECT_THAT(event_lines(unit, "f"),
              ElementsAre("write *f()::b", "read *f()::t", "read *f()::t", "write g", "write In::x of p2",
                          "write *In::arr of p2", "write *f()::b"));
}

TEST(Calls, Kinds) {
  const UnitFacts unit = facts_of(R"(
struct B { virtual void v(); void n(); virtual ~B(); }; struct F final : B { void v() override; };
void handler(int); void on(void (*h)(int)); struct Ops { void (*op)(int); };
void f(B& b, F& last, Ops* o, void (B::*m)()) { b.v(); b.B::v(); b.n(); last.v(); on(handler); o->op = &handler; o->op(1); (b.*m)(); }
)");
  EXPECT_THAT(
      event_lines(unit, "f"),
      ElementsAre("call virtual &*f()::b . B::v", "call direct &*f()::b . B::v",
                  "call direct &*f()::b . B::n", "call direct &*f()::last . F::v", "call callback handler",
                  "call direct on (?)", "call callback handler", "write Ops::op of p2", "read Ops::op of p2",
                  "call pointer Ops::op of p2 . op (?)", "call indirect (indirect call)"));
}

TEST(Calls, OnlyPrototypesAreExact) {
  const UnitFacts unit = facts_of(R"(
void f(void (*p)(int), void (&r)(int), int (*v)(const char*, ...)) { p(1); r(1); (*p)(1); v("a", 1); }
)");
  EXPECT_THAT(event_lines(unit, "f"), ElementsAre(HasSubstr("call pointer"), HasSubstr("call pointer"),
                                                  HasSubstr("call pointer"), HasSubstr("call indirect")));
}

TEST(Calls, AFunctionHasThePrototypeOfThePointersThatCanCallIt) {
  const UnitFacts unit = facts_of(R"(
struct S {}; void take(void*); void* give(void*); int number(int*, S); int other(S*, S) noexcept; 
void take(void*) {} void* give(void* p) { return p; } int number(int*, S) { return 1; } int other(S*, S) noexcept { return 2; }
void f(void (*t)(S*), char* (*g)(S*), long (&n)(char*, S)) { t(0); g(0); n(0, S()); }
)");
  std::vector<std::uint64_t> called;
  for (const Block& block : function(unit, "f").blocks)
    for (const Element& element : block.elements)
      for (const Event& event : element.events)
        if (const Call* call = std::get_if<Call>(&event.what); call && call->kind == CallKind::Pointer)
          called.push_back(call->prototype);
  const auto of = [&](const char* name) { return function(unit, name).prototype; };
  EXPECT_THAT(called, ElementsAre(of("take"), of("give"), of("number")));
  EXPECT_EQ(of("number"), of("other"));
  EXPECT_NE(of("take"), of("give"));
  EXPECT_NE(of("take"), 0U);
}

TEST(Calls, ConstructorsAndDestructors) {
  const UnitFacts unit = facts_of(R"(
struct P { P(int); ~P(); }; struct B { B(); virtual ~B(); }; struct D : B { D(int a) : B(), p(a) {} ~D() override {} P p; };
D make(); void f(int a, B* b) { D d(a); D* h = new D(1); delete b; make(); const D& kept = make(); }
)");
  EXPECT_THAT(event_lines(unit, "D::D"),
              ElementsAre("call direct &*D::D::this . B::B", "call direct &D::p of this . P::P (D::D()::a)"));
  EXPECT_THAT(event_lines(unit, "D::~D"),
              ElementsAre("call direct &D::p of this . P::~P", "call direct &*D::~D::this . B::~B"));
  EXPECT_THAT(event_lines(unit, "f"),
              ElementsAre("call direct &f()::d . D::D (f()::a)", "call direct D::D (?)",
                          "call virtual &*f()::b . B::~B", "write *f()::b [whole]", "call direct make",
                          "call direct D::~D", "call direct make", "bind f()::kept := &make::return",
                          "call direct &*f()::kept . D::~D", "call direct &f()::d . D::~D"));
}

TEST(Calls, VirtualBases) {
  const UnitFacts unit = facts_of("struct V { V(int); }; struct D : virtual V { D() : V(1) {} };");
  EXPECT_THAT(event_lines(unit, "D::D"), ElementsAre("call direct &*D::D::this . V::V (?)"));
}

TEST(Calls, LibraryMakesOurObjects) {
  const UnitFacts unit = facts_of(R"(
#include <functional>
#include <memory>
#include <vector>
struct T { T(int* p); ~T(); void run(); int v; };
struct H { std::vector<T> ts; std::unique_ptr<T> one; std::function<void()> fn;
  void f(int* p) { ts.emplace_back(p); one = std::make_unique<T>(p); fn = [this] { one->run(); }; fn(); }
  ~H() {} };
)");
  const std::vector<std::string> lines = event_lines(unit, "H::f");
  EXPECT_THAT(lines, Contains("call direct T::T (H::f()::p)").Times(2));
  EXPECT_THAT(lines, Contains("call callback H::f::lambda#0"));
  EXPECT_THAT(lines, Contains("call indirect H::fn of this . this->fn"));
  EXPECT_THAT(event_lines(unit, "H::~H"),
              ElementsAre("call direct &*H::one of this . T::~T", "call direct &*H::ts of this . T::~T"));
}

TEST(Calls, AlgorithmsCallAtOnceOthersLater) {
  const UnitFacts unit = facts_of(
      "#include <algorithm>\n#include <vector>\nint s; void later(void (*f)(int));\n"
      "void f(std::vector<int>& v) { std::for_each(v.begin(), v.end(), [](int x) { s += x; }); later([](int "
      "x) { s = x; }); }");
  const std::vector<std::string> lines = event_lines(unit, "f");
  EXPECT_THAT(lines, Contains("call direct f::lambda#0"));
  EXPECT_THAT(lines, Contains("call callback f::lambda#1"));
}

TEST(Calls, DefaultArgumentsAndInitialisersAreEvaluated) {
  const UnitFacts unit = facts_of(
      "int next(); int g; void take(int a = next(), int b = g); struct S { int v = next(); S() {} }; void "
      "f() { take(); }");
  EXPECT_THAT(event_lines(unit, "f"),
              ElementsAre("call direct next", "read g", "call direct take (next::return, g)"));
  EXPECT_THAT(event_lines(unit, "S::S"),
              ElementsAre("call direct next", "write S::v of this [own-constructor]"));
}

// Numbers matter to no alias, but the slice follows them into the callers.
TEST(Calls, EveryReturnedValueIsAFlow) {
  const UnitFacts unit = facts_of(R"(
struct Status { int code; Status(int c); };
int number(int t) { return t; }
bool compared(int t) { return t == 1; }
Status made() { return Status(1); }
int passed_on() { return number(2); }
void nothing() { return; }
)");
  for (const char* name : {"number", "compared", "made", "passed_on"})
    EXPECT_THAT(event_lines(unit, name), Contains("bind " + std::string(name) + "::return := ?"));
  EXPECT_THAT(event_lines(unit, "nothing"), ElementsAre());
}

TEST(Memory, WhatAClosureCopiesOrComputesIsAFlow) {
  const UnitFacts unit = facts_of(R"(
template <class F> void run(F f) { f(); }
int a[4];
void f(int i) { run([i, j = i + 1] { a[i] = j; }); }
)");
  EXPECT_THAT(event_lines(unit, "f"), Contains("bind f::lambda#0()::i := ?"));
  EXPECT_THAT(event_lines(unit, "f"), Contains("bind f::lambda#0()::j := ?"));
}

TEST(Calls, AReferenceToATemporaryPointerIsFollowed) {
  const UnitFacts unit = facts_of("int g; void take(int* const& p) { *p = 1; } void f() { take(&g); }");
  EXPECT_THAT(event_lines(unit, "take"), ElementsAre("read *take()::p", "write **take()::p"));
  EXPECT_THAT(event_lines(unit, "f"),
              ElementsAre("bind f()::temporary := &g", "call direct take (&f()::temporary)"));
}

TEST(Calls, InitialiserElementsDoNotRepeatWhatTheirPartsDid) {
  const UnitFacts unit = facts_of("int next(int); int g; int f() { return next(next(g)) + g; }");
  EXPECT_THAT(event_lines(unit, "f"),
              ElementsAre("read g", "call direct next (g)", "call direct next (next::return)", "read g",
                          "bind f::return := ?"));
}

TEST(Memory, VeryLongExpressionsKeepTheirEvents) {
  std::string sum = "g";
  for (int i = 0; i < 3000; ++i) sum += " + g";
  EXPECT_EQ(event_lines(facts_of("int g; int f() { return " + sum + "; }"), "f").size(), 3002u);
}

TEST(Variables, TypesTraitsAndPlaces) {
  const UnitFacts unit = facts_of(R"(
#include <atomic>
#include <mutex>
std::atomic<int> counter;
template <class T> struct Box { std::atomic<T> value; T* pointer; mutable int m; unsigned bits : 3; std::mutex mu; const volatile int cv = 0; };
void f(Box<long>& b) { counter++; b.value++; b.pointer = nullptr; b.m = b.bits; std::lock_guard g(b.mu); (void)(b.cv + 1); }
)");
  EXPECT_EQ(variable(unit, "counter").traits, kAtomic);
  EXPECT_EQ(variable(unit, "counter").kind, VariableKind::Global);
  EXPECT_EQ(variable(unit, "counter").at.line, 4u);
  EXPECT_EQ(variable(unit, "Box::value").traits, kAtomic);
  EXPECT_EQ(variable(unit, "Box::value").kind, VariableKind::Field);
  EXPECT_EQ(variable(unit, "Box::pointer").traits, kPointer);
  EXPECT_EQ(variable(unit, "Box::m").traits, kMutable);
  EXPECT_EQ(variable(unit, "Box::bits").traits, kBitField);
  EXPECT_EQ(variable(unit, "Box::mu").traits, kMutex);
  EXPECT_EQ(variable(unit, "Box::cv").traits, kConst | kVolatile);
  EXPECT_TRUE(std::is_sorted(unit.variables.begin(), unit.variables.end(),
                             [](const VariableFacts& a, const VariableFacts& b) { return a.id < b.id; }));
}

TEST(Memory, CodeInC) {
  const UnitFacts unit = facts_of(Source{R"(
struct point { int x, y; };
struct list { struct list *next; struct point at; };
static struct list *head; static int total;
void push(struct list *n) { n->next = head; head = n; }
void copy(struct list *a, const struct list *b) { a->at = b->at; }
int *vla(int n) { int a[n]; a[0] = total; static int kept; kept++; return &kept; }
void cleaner(int *p) { total++; }
void scoped(void) { __attribute__((cleanup(cleaner))) int x = 1; (void)x; }
struct ops { int (*go)(void *); } table[1] = {{.go = 0}};
)",
                                         "x.c"});
  EXPECT_THAT(event_lines(unit, "push"),
              ElementsAre("read head", "write list::next of p0", "bind list::next of p0 := head",
                          "write head", "bind head := push()::n"));
  EXPECT_THAT(event_lines(unit, "copy"), ElementsAre("read point::x of p1->at", "read point::y of p1->at",
                                                     "write point::x of p0->at", "write point::y of p0->at"));
  EXPECT_THAT(event_lines(unit, "vla"), ElementsAre("read total", "read vla()::kept", "write vla()::kept",
                                                    "bind vla::return := &vla()::kept"));
  EXPECT_THAT(event_lines(unit, "scoped"), ElementsAre("call direct cleaner (&scoped()::x)"));
  EXPECT_THAT(event_lines(unit, "initialiser of table"),
              ElementsAre("write ops::go of table[] [own-constructor]"));
  EXPECT_THAT(function(unit, "push").linkage_names, ElementsAre("push"));
}

TEST(Memory, Coroutines) {
  const UnitFacts unit = facts_of(R"(
#include <coroutine>
struct task { struct promise_type { task get_return_object() { return {}; } std::suspend_never initial_suspend() { return {}; }
  std::suspend_never final_suspend() noexcept { return {}; } void return_void() {} void unhandled_exception() {} }; };
int g, h; task f() { g = 1; co_await std::suspend_always{}; if (g) h = 2; }
)");
  EXPECT_TRUE(function(unit, "f").has(kCoroutine));
  EXPECT_THAT(event_lines(unit, "f"), Contains("write g"));
  EXPECT_THAT(event_lines(unit, "f"), Contains("write h"));
  EXPECT_THAT(event_lines(unit, "f"), Contains(HasSubstr("task::promise_type::initial_suspend")));
}

}  // namespace
}  // namespace simrt::analysis
