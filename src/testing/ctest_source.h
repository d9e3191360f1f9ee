// Tests of a CMake build directory, as CTest itself describes them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/test.h"
#include "support/interrupt.h"
#include "support/result.h"

namespace simrt::testing {

/// Value of an inherited environment variable.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string&)>;

struct CTestListing {
  std::vector<TestCase> tests;         ///< one per CTest test, in CTest's order; nothing expanded
  std::vector<std::string> not_built;  ///< targets whose tests CTest cannot know before they are built
};

/// Reads `ctest --show-only=json-v1` output. ENVIRONMENT_MODIFICATION is carried out against `inherited`. A
/// test whose program does not exist has an empty command. Pure. ErrorCode::Project when it is no such
/// document.
Result<CTestListing> parse_ctest(std::string_view json, const EnvironmentLookup& inherited);

/// Runs `program` (ctest) in the build directory; `configuration` is -C, empty for single-configuration
/// generators. ErrorCode::Project when there is no CTest, no such directory or the build system is not
/// configured.
Result<CTestListing> list_ctest(const std::string& program, const std::string& directory,
                                const std::string& configuration, const InterruptToken* interrupt = nullptr);

}  // namespace simrt::testing
