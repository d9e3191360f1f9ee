#include "testing/trace_files.h"

#include <gmock/gmock.h>

#include "support/files.h"

namespace simrt::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TraceFiles, FindsOwnFirstThenOtherProcesses) {
  const TemporaryDirectory directory = TemporaryDirectory::create().value();
  const TestId test{0x12ab};
  const std::string own = trace_file(directory.path(), test);
  EXPECT_EQ(own, directory.file("00000000000012ab.trace"));
  EXPECT_THAT(find_traces(directory.path(), test), IsEmpty());
  for (const std::string& name :
       {own + ".100", own + ".99", own + ".99.1", own, trace_file(directory.path(), {7}), own + "x",
        directory.file("100000000000012ab.trace")}) {
    ASSERT_TRUE(write_file_atomically(name, ""));
  }
  EXPECT_THAT(find_traces(directory.path(), test),
              ElementsAre(own, own + ".99", own + ".99.1", own + ".100"));
  ASSERT_TRUE(remove_traces(directory.path(), test));
  EXPECT_THAT(find_traces(directory.path(), test), IsEmpty());
  EXPECT_TRUE(is_file(trace_file(directory.path(), {7})));
  EXPECT_THAT(find_traces(directory.file("absent"), test), IsEmpty());
}

}  // namespace
}  // namespace simrt::testing
