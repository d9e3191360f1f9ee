// Which files a program's debug information may name, whatever root its build was made under.
#pragma once

#include <string>
#include <vector>

#include "model/program.h"

namespace simrt::analysis {

/// Repository-relative paths of the files that its functions stand in and of its units, ascending.
std::vector<std::string> source_files(const Program& program);

}  // namespace simrt::analysis
