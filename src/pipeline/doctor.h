// `simrt doctor`: is the project ready?
#pragma once

#include <string>
#include <vector>

#include "pipeline/project/doctor.h"
#include "support/result.h"

namespace simrt::pipeline {

/// Repository, configuration, compile database, instrumented build, history. Executes nothing.
Result<std::vector<project::Check>> check_setup(const std::string& directory, const std::string& database);

}  // namespace simrt::pipeline
