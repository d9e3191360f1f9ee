// Real code: which calls stand for a line, and what library code they lead to.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analysis/mapping/code_sites.h"
#include "mapping_programs.h"

namespace simrt::analysis::test {
namespace {

constexpr std::string_view kSource = R"(#include <vector>
struct Pair { int a, b; };
int twice(int x) { return x + x; }
std::vector<int> numbers;
void add(int x) {
  numbers.push_back(x);
}
Pair copy(const Pair& pair) {
  return pair;
}
int main(int count, char**) {
  add(
      twice(count));
  // nothing
  return copy({1, twice(twice(count))}).a;
}
)";

class CodeSitesOf : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    workspace_.write("main.cc", kSource);
    run(workspace_.path(), std::string("clang++-19 -std=c++20 -g ") + GetParam() + " main.cc -o program");
    auto sites = CodeSites::load(workspace_.path("program"), workspace_.path(), {});
    ASSERT_TRUE(sites) << sites.error().message;
    sites_.emplace(std::move(*sites));
  }
  std::vector<std::uint64_t> at(std::string_view snippet) {
    return sites_->calls_at("main.cc", find(kSource, snippet).line);
  }

  Workspace workspace_;
  std::optional<CodeSites> sites_;
};

TEST_P(CodeSitesOf, LibraryCodeBehindALineIsFound) {
  const auto calls = at("numbers.push_back");
  const auto inside = sites_->library_code_behind(calls, {}).calls;
  EXPECT_GT(calls.size() + inside.size(), 2U) << "allocation at least, and what moves the elements";
  for (const std::uint64_t call : inside) {
    for (const char* line : {"return pair", "twice(count));", "copy({1", "return x + x"}) {
      const auto own = at(line);
      EXPECT_FALSE(std::binary_search(own.begin(), own.end(), call)) << line;
    }
  }
}

TEST_P(CodeSitesOf, LinesWithoutCodeAreTold) {
  EXPECT_TRUE(sites_->has_code("main.cc", 6, 6));
  EXPECT_FALSE(sites_->has_code("main.cc", 14, 14));  // a comment
  EXPECT_TRUE(sites_->has_code("main.cc", 14, 15));
  EXPECT_FALSE(sites_->has_code("other.cc", 1, 100));
  EXPECT_TRUE(sites_->calls_at("other.cc", 6).empty());
}

INSTANTIATE_TEST_SUITE_P(Levels, CodeSitesOf,
                         ::testing::Values("-O0", "-O2", "-O0 -fPIC -shared", "-O0 -fPIC -shared -fno-plt"));

// In a shared library, what a template makes is called through the dynamic linker, and may lie elsewhere.
TEST(CodeSites, CallsThatTheLinkerBindsAreFollowed) {
  const Workspace workspace;
  workspace.write("main.cc", kSource);
  workspace.write("other.cc",
                  "#include <vector>\nvoid more(std::vector<int>& all, int x) { all.push_back(x); }\n");
  run(workspace.path(), "clang++-19 -std=c++20 -g -O0 -fPIC -shared main.cc -o library.so");
  run(workspace.path(), "clang++-19 -std=c++20 -g -O0 -fPIC -shared other.cc -o other.so");
  const auto library = CodeSites::load(workspace.path("library.so"), workspace.path(), {});
  const auto other = CodeSites::load(workspace.path("other.so"), workspace.path(), {});
  ASSERT_TRUE(library && other);
  const auto calls = library->calls_at("main.cc", find(kSource, "numbers.push_back").line);
  const auto behind = library->library_code_behind(calls, {});
  EXPECT_GT(behind.calls.size(), 5U);
  ASSERT_FALSE(behind.linked.empty());
  EXPECT_TRUE(std::ranges::any_of(behind.linked, [](const auto& function) {
    return function.symbol == "_ZNSt6vectorIiSaIiEE9push_backERKi" && !function.by_library;
  }));
  EXPECT_EQ(other->library_code_behind({}, behind.linked).calls.size(), behind.calls.size());
  EXPECT_TRUE(other->library_code_behind({}, {{"_Z4morerSt6vectorIiSaIiEEi"}}).calls.empty());
}

TEST(CodeSites, EveryCallOfALineIsThere) {
  const Workspace workspace;
  workspace.write("main.cc", kSource);
  run(workspace.path(), "clang++-19 -std=c++20 -g -O0 main.cc -o program");
  const auto sites = CodeSites::load(workspace.path("program"), workspace.path(), {});
  ASSERT_TRUE(sites);
  EXPECT_GE(sites->calls_at("main.cc", find(kSource, "copy({1").line).size(), 3U);
  EXPECT_EQ(sites->calls_at("main.cc", find(kSource, "return pair").line).size(), 0U);
  EXPECT_TRUE(sites->library_code_behind(sites->calls_at("main.cc", find(kSource, "copy({1").line), {})
                  .calls.empty());
}

TEST(CodeSites, WhatIsNoProgramIsAnError) {
  const Workspace workspace;
  workspace.write("text", "no program");
  EXPECT_FALSE(CodeSites::load(workspace.path("text"), workspace.path(), {}));
  EXPECT_FALSE(CodeSites::load(workspace.path("missing"), workspace.path(), {}));
}

}  // namespace
}  // namespace simrt::analysis::test
