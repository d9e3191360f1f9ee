// Is everything there that recording and selecting need? A list of checks, each with the way out.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace simrt::project {

struct Check {
  std::string name;  ///< "compile database"
  bool ok = false;
  std::string detail;  ///< what was found, or what is wrong
  std::string hint;    ///< how to get it: an exact command where there is one; empty when ok
};

/// In the order in which a user would fix them. Looks at files only; executes nothing.
std::vector<Check> doctor_checks(const std::string& root, const config::Config& config);

}  // namespace simrt::project
