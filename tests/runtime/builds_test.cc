// Ways to build a program: static, with a sanitizer, by two compilers, with function versions.
#include <gmock/gmock.h>

#include <filesystem>

#include "recorded.h"

namespace simrt::runtime_test {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::Trace;

bool has(const std::string& variant) {
  const auto all = variants();
  return std::find(all.begin(), all.end(), variant) != all.end();
}

TEST(Builds, StaticPrograms) {
  for (const std::string& variant : variants()) {
    for (const char* kind : {"static-", "static-pie-"}) {
      const RecordedRun run = record({program(kind + variant), "nested"});
      EXPECT_EQ(run.status, 0) << kind << variant;
      ASSERT_THAT(run.traces, SizeIs(1)) << kind << variant;
      const Trace& trace = run.traces[0];
      EXPECT_TRUE(trace.complete);
      ASSERT_THAT(trace.threads, SizeIs(3)) << kind << variant;
      EXPECT_EQ(trace.threads[2].parent, 1u);
      EXPECT_THAT(threads_with(trace, "work_alpha"), ElementsAre(1u));
      EXPECT_THAT(threads_with(trace, "work_beta"), ElementsAre(2u));
      EXPECT_NE(trace.threads[1].site, "");
      EXPECT_EQ(wait_for(start({program(kind + variant), "nested"}, {}, "/")), 0);
    }
  }
}

TEST(Builds, ResolversRunBeforeAnyConstructor) {
  for (const char* variant : {"clang-19", "gcc-12"}) {
    if (!has(variant)) continue;
    const RecordedRun run = record({program(std::string("versions-") + variant)});
    EXPECT_EQ(run.status, 0) << variant;
    ASSERT_THAT(run.traces, SizeIs(1));
    EXPECT_THAT(threads_with(run.traces[0], "work_chosen"), ElementsAre(0u));
    EXPECT_THAT(threads_with(run.traces[0], "work_alpha"), ElementsAre(1u));
  }
}

TEST(Builds, TwoCompilersInOneProgram) {
  if (!has("clang-19") || !has("gcc-12")) GTEST_SKIP() << "needs both compilers";
  for (const char* name : {"mixed", "mixed-calls"}) {
    const RecordedRun run = record({program(name)});
    EXPECT_EQ(run.status, 0);
    ASSERT_THAT(run.traces, SizeIs(1));
    const Trace& trace = run.traces[0];
    if (std::string(name) == "mixed") {
      ASSERT_THAT(trace.modules, SizeIs(1));  // gcc's guards stand behind clang's
    } else {
      ASSERT_THAT(trace.modules, SizeIs(2));  // one of each kind, of the same file
      EXPECT_EQ(trace.modules[0].path, trace.modules[1].path);
      EXPECT_NE(trace.modules[0].pc_list_only, trace.modules[1].pc_list_only);
    }
    EXPECT_THAT(threads_with(trace, "work_cxx_half"), ElementsAre(1u));
    EXPECT_THAT(threads_with(trace, "work_c_half"), ElementsAre(1u));
  }
}

// Position-dependent code at -O1, and -O2 with sections that the linker drops.
TEST(Builds, OtherCodeModelsAndDroppedSections) {
  for (const std::string& variant : variants()) {
    for (const char* kind : {"fixed-", "collected-", "optimized-"}) {
      const RecordedRun run = record({program(kind + variant), "two_threads"});
      EXPECT_EQ(run.status, 0) << kind << variant;
      ASSERT_THAT(run.traces, SizeIs(1)) << kind << variant;
      const Trace& trace = run.traces[0];
      ASSERT_THAT(trace.modules, SizeIs(1)) << kind << variant;
      EXPECT_EQ(trace.modules[0].pc_list_only, variant == "gcc-12calls");
      EXPECT_THAT(threads_with(trace, "work_alpha"), ElementsAre(1u)) << kind << variant;
      EXPECT_THAT(threads_with(trace, "work_beta"), ElementsAre(2u)) << kind << variant;
      EXPECT_THAT(threads_with(trace, "work_never"), IsEmpty()) << kind << variant;
    }
  }
}

TEST(Builds, WithAddressSanitizer) {
  if (!has("clang-19") || !has("gcc-12")) GTEST_SKIP() << "not built";
  const RecordedRun run =
      record({program("address-sanitizer"), "two_threads"}, {{"ASAN_OPTIONS", "detect_leaks=0"}});
  EXPECT_EQ(run.status, 0);
  ASSERT_THAT(run.traces, SizeIs(1));
  EXPECT_THAT(threads_with(run.traces[0], "work_alpha"), ElementsAre(1u));
  EXPECT_THAT(threads_with(run.traces[0], "work_beta"), ElementsAre(2u));
}

TEST(Builds, WithLinkTimeOptimisation) {
  if (!has("clang-19") || !has("gcc-12")) GTEST_SKIP() << "not built";
  const RecordedRun run = record({program("lto"), "two_threads"});
  EXPECT_EQ(run.status, 0);
  ASSERT_THAT(run.traces, SizeIs(1));
  EXPECT_THAT(run.traces[0].threads, SizeIs(3));
  EXPECT_THAT(threads_with(run.traces[0], "work_alpha"), ElementsAre(1u));
}

}  // namespace
}  // namespace simrt::runtime_test
