// Looks at a repository's files to find out how it is built and tested. Executes nothing of it.
#pragma once

#include <string>

#include "config/config.h"
#include "pipeline/project/findings.h"
#include "support/result.h"

namespace simrt::project {

/// Build directories are looked for in the repository (a few levels deep, ignored directories included) and
/// beside it; only those whose recorded source directory lies in `root` count. Errors: Project, when `root`
/// is no directory.
Result<ProjectFindings> discover_project(const std::string& root);

/// `base` with what was found filled in where `base` says nothing: the configuration for `init` to write.
config::Config suggested_config(const ProjectFindings& findings, config::Config base);

/// The commands that make an instrumented build of this project beside the user's own; for recording or for
/// checking.
std::string instrumented_build_command(const ProjectFindings& findings, const std::string& directory,
                                       bool for_check = false);

}  // namespace simrt::project
