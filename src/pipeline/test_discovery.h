// Which tests a build directory holds, as the configuration asks for them.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "model/test.h"
#include "support/interrupt.h"
#include "support/result.h"
#include "testing/discover.h"

namespace simrt::pipeline {

/// Whether the configuration leaves the test of this name out ([tests] exclude).
bool is_excluded(const config::Config& config, const std::string& test);

/// The tests of `build` that the configuration does not exclude, in discovery order. Commands that the
/// configuration lists below the instrumented directory are taken from `build`. Errors: Project, with `hint`,
/// when there are none.
Result<testing::Discovery> discover_build(const config::Config& config, const std::string& build,
                                          const std::string& hint, const InterruptToken* interrupt);

/// The same, its warnings added to `warnings`.
Result<std::vector<TestCase>> tests_of_build(const config::Config& config, const std::string& build,
                                             const std::string& hint, std::vector<std::string>& warnings,
                                             const InterruptToken* interrupt);

/// The same of a build for `check` and `explore`. Errors: Project, also when there is no such build.
Result<std::vector<TestCase>> tests_of_check_build(const config::Config& config, const std::string& build,
                                                   std::vector<std::string>& warnings,
                                                   const InterruptToken* interrupt);

/// The tests of a check build whose names fit one of the globs; all of them when there is no glob. Errors:
/// Project, with `hint`, when there are none.
Result<std::vector<TestCase>> tests_named(std::vector<TestCase> tests, const std::vector<std::string>& globs,
                                          const std::string& hint);

}  // namespace simrt::pipeline
