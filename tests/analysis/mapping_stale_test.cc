// Whether a program was built from the sources on the disk: real compilers, real debug information.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "analysis/mapping/stale_sources.h"
#include "mapping_programs.h"

namespace simrt::analysis::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Stale : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    workspace_.write("a.cc", "#include \"a.h\"\nint main() { return zero(); }\n");
    workspace_.write("a.h", "inline int zero() { return 0; }\n");
    workspace_.write("other.cc", "int other;\n");
    run(workspace_.path(), std::string(GetParam()) + " a.cc -o program");
  }
  std::vector<std::string> stale() const {
    const auto found =
        StaleSources(workspace_.path(), {"a.cc", "a.h", "other.cc"}).of(workspace_.path("program"));
    EXPECT_TRUE(found) << found.error().message;
    if (!found) return {};
    const bool checksums = std::string(GetParam()).starts_with("clang");
    EXPECT_THAT(checksums ? found->newer : found->changed, IsEmpty());
    return checksums ? found->changed : found->newer;
  }
  /// Time stamps of one moment would hide a change from a compiler without checksums.
  void change(const std::string& name, std::string_view text) {
    workspace_.write(name, text);
    std::filesystem::last_write_time(workspace_.path(name),
                                     std::filesystem::file_time_type::clock::now() + std::chrono::seconds(5));
  }

  Workspace workspace_;
};

TEST_P(Stale, AFreshBuildIsNot) { EXPECT_THAT(stale(), IsEmpty()); }

TEST_P(Stale, AChangedSourceIs) {
  change("a.cc", "// moved\n#include \"a.h\"\nint main() { return zero(); }\n");
  EXPECT_THAT(stale(), ElementsAre("a.cc"));
}

TEST_P(Stale, AChangedHeaderIs) {
  change("a.h", "// moved\ninline int zero() { return 0; }\n");
  EXPECT_THAT(stale(), ElementsAre("a.h"));
}

TEST_P(Stale, WhatTheProgramWasNotBuiltFromIsNot) {
  change("other.cc", "int another;\n");
  EXPECT_THAT(stale(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Compilers, Stale, ::testing::Values("clang++-19 -g", "clang++-14 -g", "g++-12 -g"),
                         [](const auto& info) {
                           const std::string text = info.param;
                           return text.substr(0, text.find('+')) + text.substr(text.find('-') + 1, 2);
                         });

TEST(StaleSources, AChecksumIsNotFooledByATimeStamp) {
  Workspace workspace;
  workspace.write("a.cc", "int main() {}\n");
  run(workspace.path(), "clang++-19 -g a.cc -o program");
  std::filesystem::last_write_time(workspace.path("a.cc"),
                                   std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  const auto found = StaleSources(workspace.path(), {"a.cc"}).of(workspace.path("program"));
  EXPECT_THAT(found->changed, IsEmpty());
  EXPECT_THAT(found->newer, IsEmpty());
}

TEST(StaleSources, WhatIsNoProgramIsAnError) {
  Workspace workspace;
  workspace.write("script.sh", "#!/bin/sh\n");
  EXPECT_FALSE(StaleSources(workspace.path(), {}).of(workspace.path("script.sh")));
}

}  // namespace
}  // namespace simrt::analysis::test
