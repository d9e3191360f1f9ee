// Tests of a Meson build directory, from the introspection file that Meson keeps there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/test.h"
#include "support/result.h"

namespace simrt::testing {

/// Reads the contents of meson-info/intro-tests.json (the same as `meson introspect --tests`). Tests without
/// a working directory run in `directory`. Names that occur twice get their suites in front. Pure.
/// ErrorCode::Project when it is no such document.
Result<std::vector<TestCase>> parse_meson(std::string_view json, const std::string& directory);

/// ErrorCode::Project when the directory is not a configured Meson build directory. Runs nothing.
Result<std::vector<TestCase>> list_meson(const std::string& directory);

}  // namespace simrt::testing
