// What the flags of a compiler command line mean for parsing: the ones that matter, without the ones that
// only steer output, diagnostics or instrumentation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simrt::analysis {

/// Removes launchers (ccache, distcc, env VAR=x, ...) in front of the compiler.
std::vector<std::string> without_launcher(std::vector<std::string> arguments);

/// Whether argv[0] is a C++ driver (g++, clang++-14, x86_64-linux-gnu-g++, simrt-clang++, c++).
bool is_cxx_driver(std::string_view program);

/// The flags (argv[0] excluded) that decide how the source is read. Dropped: outputs and dependency files,
/// warnings, debug info, profiling, coverage, sanitizers, link options, precompiled headers of the user's
/// compiler (their
/// `-include` stays), modules, and everything that would load code into clang (plugins). Values that belong
/// to a dropped flag go with it.
std::vector<std::string> parsing_flags(const std::vector<std::string>& arguments);

}  // namespace simrt::analysis
