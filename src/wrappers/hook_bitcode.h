// The coverage hook as bitcode of the user's clang, compiled once and kept in a cache directory.
#pragma once

#include <string>
#include <vector>

#include "wrappers/toolset.h"

namespace simrt::wrappers {

/// Path of the bitcode; empty when it cannot be made (no cache directory, compiler too old): then there is no
/// inlining, and nothing else changes. Cache: $SIMRT_CACHE_DIR, else $XDG_CACHE_HOME/simrt, else
/// ~/.cache/simrt; keyed by the compiler's file and the hook's source. Safe for parallel builds (written
/// aside, then renamed).
std::string hook_bitcode(const Compiler& compiler, const RuntimeFiles& runtime);

}  // namespace simrt::wrappers
