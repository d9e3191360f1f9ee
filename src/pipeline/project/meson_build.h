// Reads a Meson build directory. For project discovery and the environment key.
#pragma once

#include <optional>
#include <string>

#include "pipeline/project/findings.h"

namespace simrt::project {

/// nullopt when `path` holds no configured Meson build of sources in `root`.
std::optional<BuildDirectory> read_meson_build(const std::string& path, const std::string& root);

}  // namespace simrt::project
