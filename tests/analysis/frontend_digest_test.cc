// The digest of a file is blind to function bodies and sees everything else.
#include <gtest/gtest.h>

#include "analysis/frontend/declarations_digest.h"
#include "analysis/frontend/frontend.h"
#include "frontend_memory_tree.h"

namespace simrt::analysis {
namespace {

struct DigestTest : ::testing::Test {
  ProjectDirectory project;

  std::uint64_t digest(const std::string& header) const {
    auto tree = std::make_shared<MemoryTree>(
        std::map<std::string, std::string>{{"include/h.h", header}, {"a.cc", "#include \"h.h\"\n"}});
    const Frontend frontend(project.root(), tree, {}, "");
    std::uint64_t result = 0;
    const ParseReport report = frontend.parse(project.command("a.cc"), [&](const ParsedUnit& unit) {
      std::vector<BodyRange> bodies;
      for (const auto& [file, ranges] : function_bodies(unit.declarations, unit.context.getSourceManager())) {
        bodies.insert(bodies.end(), ranges.begin(), ranges.end());
      }
      result = declarations_digest(tokenize(header), bodies);
    });
    EXPECT_EQ(report.errors, 0u) << report.messages.at(0);
    return result;
  }
};

constexpr const char* kHeader = R"(#define EXPORT __attribute__((unused))
#if defined(EXPORT) && !(0)
#endif
#define LIMIT(x) (x)
struct Forward;
struct S {
  S() : a(1) { a = 2; }
  int get() const { return a; }
  template <class T> T as() { return T(a); }
  friend int peek(S& s) { return s.a; }
  int a;
};
namespace n { template <class T> T twice(T t) { return t + t; } }
constexpr int square(int x) { return x * x; }
inline auto deduced() { return 1; }
inline int guarded() {
#ifdef X
  return 1;
#endif
  return 2;
}
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kHeader;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST_F(DigestTest, BodiesCommentsAndLayoutAreNoDeclarations) {
  const std::uint64_t base = digest(kHeader);
  EXPECT_NE(base, 0u);
  EXPECT_EQ(base, digest(with("a = 2;", "a = 3; for (;;) {}"))) << "constructor";
  EXPECT_EQ(base, digest(with("return a;", "return a + 1;"))) << "member";
  EXPECT_EQ(base, digest(with("return T(a);", "T t(a); return t;"))) << "member template";
  EXPECT_EQ(base, digest(with("return s.a;", "return 0;"))) << "friend";
  EXPECT_EQ(base, digest(with("return t + t;", "return 2 * t;"))) << "template";
  EXPECT_EQ(base, digest(with("__attribute__((", "__attribute__ ( ("))) << "space within a macro's body";
  EXPECT_EQ(base, digest(with("#define LIMIT(x) (x)", "# define  LIMIT( x )  ( x )")))
      << "space in a directive";
  EXPECT_EQ(base, digest(with("defined(EXPORT) && !(0)", "defined (EXPORT) && ! (0)"))) << "condition";
  EXPECT_EQ(base, digest(with("struct S {", "// comment\nstruct S\n   /* x */ {\n\n")));
}

TEST_F(DigestTest, EverythingElseIsADeclaration) {
  const std::uint64_t base = digest(kHeader);
  EXPECT_NE(base, digest(with("(x)\n", "(x + 1)\n"))) << "macro body";
  EXPECT_NE(base, digest(with("LIMIT(x)", "LIMIT (x)"))) << "function-like to object-like";
  EXPECT_NE(base, digest(with("(x)\n", "(x) \\\n"))) << "the macro swallows the next line";
  EXPECT_NE(base, digest(with("int a;", "long a;"))) << "field type";
  EXPECT_NE(base, digest(with("int a;", "int a = 1;"))) << "default initialiser";
  EXPECT_NE(base, digest(with("a(1)", "a(2)"))) << "constructor initialiser";
  EXPECT_NE(base, digest(with("x * x", "x + x"))) << "constexpr body";
  EXPECT_NE(base, digest(with("return 1; }\ninline int g", "return 1L; }\ninline int g")))
      << "deduced return";
  EXPECT_NE(base, digest(with("return 2;", "return 3;"))) << "a body with a directive in it";
  EXPECT_NE(base, digest(with("int get() const", "int get()"))) << "signature";
  EXPECT_NE(base, digest(with("#define LIMIT", "#include <cstddef>\n#define LIMIT"))) << "include";
}

}  // namespace
}  // namespace simrt::analysis
