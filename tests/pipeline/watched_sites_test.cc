// What a check watches of a real program, for accesses written by hand.
#include "pipeline/check/watched_sites.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/subprocess.h"

namespace simrt::pipeline {
namespace {

namespace fs = std::filesystem;

// Lines count.
constexpr const char* kSource = R"(#include <vector>
struct Slice { const char* data = ""; int size = 0;
  Slice() = default;
  Slice(const Slice&) = default;
};
int used(int x) { return x; }
std::vector<int> numbers;
int value;
void set(int x) {
  value =
      used(x) +
      used(x + 1);
}
void copy(const Slice& from) {
  used(1);
  Slice to = from; used(2);
  used(to.size);
}
inline int never(int x) {
  return used(x);
}
int main() {
  set(1);
  copy({});
  numbers.push_back(1);
}
)";

class WatchedSitesOf : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "simrt-watched-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = fs::canonical(pattern).string();
    std::ofstream(root_ + "/main.cc") << kSource;
    const auto built = run_process({.command = {"clang++-19", "-g", "-O0", "main.cc", "-o", "program"},
                                    .directory = root_,
                                    .environment = {},
                                    .unset_environment = {}});
    ASSERT_TRUE(built && built->succeeded()) << (built ? built->output : "not run");
    std::vector<FunctionFacts> functions(4);
    const auto describe = [&](std::size_t i, std::uint32_t begin, std::uint32_t end) {
      functions[i].id.value = i + 1;
      functions[i].file = "main.cc";
      functions[i].begin_line = begin;
      functions[i].end_line = end;
    };
    describe(0, 4, 4);    // Slice's copy constructor: made where it is asked for
    describe(1, 9, 13);   // set
    describe(2, 14, 18);  // copy
    describe(3, 19, 21);  // never
    Event call;
    call.at.line = 16;
    call.what = Call{functions[0].id, CallKind::Direct, "Slice", {}, {}, 0};
    Element element;
    element.events = {call};
    Block block;
    block.elements = {element};
    functions[2].blocks = {block};
    for (FunctionFacts& function : functions) head_.functions.push_back(std::move(function));
    head_.index();
  }
  void TearDown() override { fs::remove_all(root_); }

  SharedAccess access(std::uint64_t function, std::uint32_t line, std::uint8_t tags = kTagNone) {
    SharedAccess access;
    access.function.value = function;
    access.file = "main.cc";
    access.at.line = line;
    access.tags = tags;
    return access;
  }
  WatchedSites of(std::vector<SharedAccess> accesses) {
    Impact impact;
    impact.accesses = std::move(accesses);
    return watched_sites(impact, head_, root_ + "/program", root_, root_, {}, libraries_);
  }

  std::string root_;
  Program head_;
  LibraryCode libraries_;
};

TEST_F(WatchedSitesOf, ALineAndThoseBesideIt) {
  const WatchedSites two = of({access(2, 11)});  // and line 12
  EXPECT_EQ(two.sites.size(), 2U);
  EXPECT_EQ(two.modules.size(), 1U);
  EXPECT_EQ(two.why_all, "");
  EXPECT_FALSE(two.libraries);
}

TEST_F(WatchedSitesOf, ACopyIsMadeWhereItIsAskedFor) {
  const WatchedSites there = of({access(1, 4)});
  EXPECT_EQ(there.sites.size(), 2U) << "the copy itself and used(2), on one line";
}

TEST_F(WatchedSitesOf, WhatIsNotInTheProgramIsNotNeeded) {
  const WatchedSites with = of({access(2, 11), access(4, 20)});
  EXPECT_EQ(with.sites, of({access(2, 11)}).sites);
  EXPECT_NE(of({access(4, 20)}).why_all, "");
}

TEST_F(WatchedSitesOf, AWholeFunctionWhereTheLineIsUnclear) {
  EXPECT_EQ(of({access(3, 18)}).sites.size(), 1U) << "lines 17 to 19";
  auto unclear = access(3, 5);  // no code there
  EXPECT_EQ(of({unclear}).sites.size(), 4U) << "all calls of the function, and line 6";
}

TEST_F(WatchedSitesOf, AnObjectsLibraryCode) {
  const WatchedSites whole = of({access(2, 25, kTagWholeObject)});
  EXPECT_TRUE(whole.libraries);
  EXPECT_GT(whole.sites.size(), of({access(2, 25)}).sites.size() + 3);
}

TEST_F(WatchedSitesOf, AFunctionThatNobodyKnowsLeavesNothingOut) {
  const WatchedSites all = of({access(2, 11), access(77, 5)});
  EXPECT_TRUE(all.sites.empty());
  EXPECT_NE(all.why_all, "");
}

}  // namespace
}  // namespace simrt::pipeline
