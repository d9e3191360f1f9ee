// Refuses coverage of a build that is older than the sources: it would be mapped to lines that its programs
// do not have.
#pragma once

#include <string>
#include <vector>

#include "analysis/mapping/stale_sources.h"
#include "model/test.h"
#include "pipeline/workspace.h"

namespace simrt::pipeline {

/// Looks at the programs of `tests` that lie in the project or in its instrumented build. Error: Project,
/// which names a program and the sources that changed since it was built. Where only time stamps speak (gcc
/// keeps no checksums), a warning.
Status refuse_stale_build(const Workspace& workspace, const std::vector<TestCase>& tests,
                          analysis::StaleSources& sources, std::vector<std::string>& warnings);

/// The same for a module that a test loaded; time stamps are not looked at.
Status refuse_stale_module(const std::string& path, analysis::StaleSources& sources);

}  // namespace simrt::pipeline
