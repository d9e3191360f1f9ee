// `simrt doctor`: is the project ready, and how good is the mapping from coverage to CFG blocks.
#pragma once

#include <string>
#include <vector>

#include "pipeline/project/doctor.h"
#include "support/result.h"

namespace simrt::pipeline {

/// Repository, configuration, compile database, instrumented build, history. Executes nothing.
Result<std::vector<project::Check>> check_setup(const std::string& directory, const std::string& database);

/// Maps every instrumented program that the newest recorded revision's tests run, and reports the shares:
/// mapped, inherited, unmapped, ambiguous; and, against the recorded coverage, blocks covered although their
/// dominator was not.
Result<std::vector<project::Check>> check_mapping(const std::string& directory, const std::string& database);

}  // namespace simrt::pipeline
