#include "testing/meson_source.h"

#include <gmock/gmock.h>

#include "support/files.h"

namespace simrt::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// As Meson 1.0 writes it.
constexpr const char* kTests = R"([
  {"cmd": ["/b/unit", "-v"], "env": {"A": "1"}, "name": "unit", "workdir": null, "timeout": 30,
   "suite": ["demo"], "is_parallel": true, "priority": 0, "protocol": "exitcode", "depends": []},
  {"cmd": ["/b/tap"], "env": {}, "name": "io", "workdir": "/w", "timeout": 60,
   "suite": ["demo:slow", "demo:io"], "is_parallel": false, "priority": 0, "protocol": "tap"},
  {"cmd": ["/b/g"], "env": {}, "name": "io", "workdir": null, "timeout": 0,
   "suite": ["other"], "is_parallel": true, "protocol": "gtest"}])";

TEST(ParseMeson, ReadsTests) {
  const auto tests = parse_meson(kTests, "/b");
  ASSERT_TRUE(tests) << tests.error().message;
  ASSERT_EQ(tests->size(), 3U);
  const TestCase& unit = tests->at(0);
  EXPECT_EQ(unit.name, "unit");
  EXPECT_EQ(unit.id, test_id("unit"));
  EXPECT_EQ(unit.ctest, "");
  EXPECT_THAT(unit.command, ElementsAre("/b/unit", "-v"));
  EXPECT_THAT(unit.environment, ElementsAre(Pair("A", "1")));
  EXPECT_EQ(unit.directory, "/b");
  EXPECT_EQ(unit.timeout_seconds, 30);
  EXPECT_THAT(unit.skip_codes, ElementsAre(77));
  EXPECT_FALSE(unit.rules.run_serial);
  const TestCase& tap = tests->at(1);
  EXPECT_EQ(tap.directory, "/w");
  EXPECT_TRUE(tap.rules.run_serial);
  EXPECT_THAT(tap.skip_codes, IsEmpty());
  EXPECT_EQ(tap.rules.fail_patterns.size(), 2U);
}

TEST(ParseMeson, EqualNamesGetTheirSuites) {
  const auto tests = parse_meson(kTests, "/b");
  EXPECT_EQ(tests->at(1).name, "demo:slow+demo:io / io");
  EXPECT_EQ(tests->at(2).name, "other / io");
  EXPECT_EQ(tests->at(2).id, test_id("other / io"));
}

TEST(ParseMeson, RejectsOtherDocuments) {
  for (const char* json : {"", "{}", "[1]", R"([{"name": "x"}])", R"([{"name": "x", "cmd": "y"}])"}) {
    ASSERT_FALSE(parse_meson(json, "/b")) << json;
    EXPECT_EQ(parse_meson(json, "/b").error().code, ErrorCode::Project);
  }
}

TEST(ListMeson, ReadsTheFileThatMesonLeaves) {
  const TemporaryDirectory directory = TemporaryDirectory::create().value();
  EXPECT_EQ(list_meson(directory.path()).error().code, ErrorCode::Project);
  ASSERT_TRUE(make_directories(directory.file("meson-info")));
  ASSERT_TRUE(write_file_atomically(directory.file("meson-info/intro-tests.json"), kTests));
  EXPECT_EQ(list_meson(directory.path()).value().size(), 3U);
}

}  // namespace
}  // namespace simrt::testing
