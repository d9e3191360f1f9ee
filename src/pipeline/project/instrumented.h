// What marks a build as made with the simrt wrappers. Internal to project discovery.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simrt::project {

/// "/usr/bin/simrt-clang++" and the like; version suffixes allowed.
bool is_simrt_wrapper(std::string_view program);
bool is_simrt_toolchain(std::string_view toolchain_file);

/// The first program or shared object below `directory` that carries coverage instrumentation; empty when
/// none of the (at most a few hundred) ELF files does. Reads section and symbol names only as bytes, runs
/// nothing.
std::string find_instrumented_binary(const std::string& directory);

/// Whether the file is an ELF file with coverage callbacks.
bool is_instrumented_binary(const std::string& path);

/// The first one that was linked for `simrt check`; empty when there is none.
std::string find_check_binary(const std::string& directory);

}  // namespace simrt::project
