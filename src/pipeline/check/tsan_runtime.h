// ThreadSanitizer's runtime, put where a check build looks for ours.
#pragma once

#include <string>

#include "support/files.h"
#include "support/result.h"

namespace simrt::pipeline {

/// A directory for LD_LIBRARY_PATH in which the name of our runtime leads to ThreadSanitizer's: that of a
/// clang, preferably of the compiler of `build`; else gcc's. Asks the compilers where they keep it. Errors:
/// Project, when there is none; Storage.
Result<TemporaryDirectory> stand_in_for_runtime(const std::string& build, const std::string& root);

}  // namespace simrt::pipeline
