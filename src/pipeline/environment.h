// What coverage depends on besides the sources: compiler, build type and flags of the instrumented build,
// this tool. Coverage of one environment is not consulted for another silently.
#pragma once

#include <string>

#include "history/revision_store.h"

namespace simrt::pipeline {

/// Read from CMakeCache.txt (or Meson's introspection) of the instrumented build; runs nothing. The key is a
/// hash of the description, which people can read.
history::Environment describe_environment(const std::string& instrumented_directory, const std::string& root);

}  // namespace simrt::pipeline
