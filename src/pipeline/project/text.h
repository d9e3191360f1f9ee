// Small readers of other tools' text files. For project discovery and the environment key.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simrt::project {

/// Whole file, or "" when it is missing or larger than `limit` bytes.
std::string text_of(const std::string& path, std::size_t limit = 16u << 20);

/// Views into `text`, which must outlive them.
std::vector<std::string_view> lines_of(std::string_view text);
std::vector<std::string_view> lines_of(std::string&& text) = delete;

/// KEY:TYPE=VALUE entries of a CMakeCache.txt.
std::map<std::string, std::string> cmake_cache(std::string_view text);

/// The argument of `set(NAME "value")` or `set(NAME value)`; nullopt when it is not set.
std::optional<std::string> cmake_set(std::string_view text, std::string_view name);

/// True when a CMake file calls `command`, comments left out.
bool calls_cmake_command(std::string_view text, std::string_view command);

/// The last path component.
std::string_view base_name(std::string_view path);

}  // namespace simrt::project
