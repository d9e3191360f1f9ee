// Where the clang 19 that this tool is linked against keeps its driver and its builtin headers.
// Knows nothing about projects or compile commands.
#pragma once

#include <string>

namespace simrt::analysis {

/// Full path of the clang driver that stands for argv[0] ("/usr/lib/llvm-19/bin/clang++"); it need not exist
/// as a file for parsing, but the driver derives its C++ library search paths from it.
std::string clang_driver(bool cxx);

/// Directory of clang's builtin headers; empty when the package is not installed.
std::string clang_resource_directory();

/// Full version text of the linked clang; part of every cache key, because PCH files are not portable between
/// builds.
std::string clang_version();

}  // namespace simrt::analysis
