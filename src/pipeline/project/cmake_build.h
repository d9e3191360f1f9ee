// Reads a CMake build directory. For project discovery and the environment key.
#pragma once

#include <optional>
#include <string>

#include "pipeline/project/findings.h"

namespace simrt::project {

/// nullopt when `path` holds no configured CMake build of sources in `root`, or a cache that was copied here
/// from elsewhere (CMake itself refuses those).
std::optional<BuildDirectory> read_cmake_build(const std::string& path, const std::string& root);

/// True when CTest would find a test: CTestTestfile.cmake and the directories it names are read.
bool ctest_has_tests(const std::string& build_directory);

}  // namespace simrt::project
