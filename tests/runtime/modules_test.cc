// Shared objects that come and go.
#include <gmock/gmock.h>

#include "recorded.h"

namespace simrt::runtime_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::Trace;

class Modules : public ::testing::TestWithParam<std::string> {
 protected:
  Trace trace_of(const std::string& scenario) {
    const RecordedRun run =
        record({program("scenarios-" + GetParam()), scenario, program("plugin-" + GetParam() + ".so")});
    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.traces, SizeIs(1));
    return run.traces.empty() ? Trace{} : run.traces[0];
  }
};
INSTANTIATE_TEST_SUITE_P(Compilers, Modules, ::testing::ValuesIn(variants()), [](const auto& info) {
  return info.param.substr(0, info.param.find('-')) + info.param.substr(info.param.find('-') + 1);
});

TEST_P(Modules, LateModuleIsRecordedPerThread) {
  const Trace trace = trace_of("plugin");
  ASSERT_THAT(trace.modules, SizeIs(2));
  EXPECT_THAT(trace.modules[1].path, EndsWith("/plugin-" + GetParam() + ".so"));
  EXPECT_NE(trace.modules[0].build_id, trace.modules[1].build_id);
  EXPECT_THAT(threads_with(trace, "work_plugin_large"), ElementsAre(0u));
  EXPECT_THAT(threads_with(trace, "work_plugin_small"), ElementsAre(1u));
}

TEST_P(Modules, ThreadOlderThanTheModule) {
  const Trace trace = trace_of("plugin_under_thread");
  EXPECT_THAT(threads_with(trace, "work_plugin_small"), ElementsAre(1u));
  EXPECT_THAT(threads_with(trace, "work_alpha"), ElementsAre(1u));  // after the module is gone
}

TEST_P(Modules, ReopenedModuleKeepsItsPlace) {
  const Trace trace = trace_of("plugin_often");
  ASSERT_THAT(trace.modules, SizeIs(2));
  ASSERT_THAT(trace.threads, SizeIs(51));
  EXPECT_THAT(threads_with(trace, "work_plugin_large"), ElementsAre(0u));
  EXPECT_THAT(threads_with(trace, "work_plugin_small"), SizeIs(50));
  EXPECT_FALSE(trace.overflowed);
}

}  // namespace
}  // namespace simrt::runtime_test
