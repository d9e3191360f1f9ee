// Globs over repository paths and over test names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simrt::config {

/// fnmatch(3) per path component (`*`, `?`, `[...]` never match '/'), and `**` for any number of components.
/// As in .gitignore: a pattern without '/' matches the last component at any depth, a trailing '/' means
/// everything below that directory, a leading '/' anchors at the root. Paths are relative with '/'.
bool glob_match(std::string_view pattern, std::string_view path);

/// True when any pattern matches.
bool any_glob_match(const std::vector<std::string>& patterns, std::string_view path);

/// fnmatch(3) over the whole name: here `*` matches '/' too (parameterised tests are named "Suite/Case/0").
bool name_match(std::string_view pattern, std::string_view name);

/// Why `pattern` is no valid glob (empty, unclosed bracket); empty when it is one.
std::string glob_problem(std::string_view pattern);

}  // namespace simrt::config
