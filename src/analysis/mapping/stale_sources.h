// Whether a module was built from the sources that lie on the disk.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/mapping/source_paths.h"
#include "support/result.h"

namespace simrt::analysis {

/// Sources of a module, ascending.
struct Staleness {
  std::vector<std::string> changed;  ///< differ from the checksums in the debug information
  std::vector<std::string> newer;    ///< written after the module, and there is no checksum: gcc keeps none,
                                     ///< clang none for a unit with a file that it has none of
};

/// Remembers what it read of the sources. Not thread-safe.
class StaleSources {
 public:
  /// `root`: absolute path of the repository; `sources`: the relative paths of its files.
  StaleSources(std::string root, const std::vector<std::string>& sources);

  /// Errors: Analysis, when the file is no readable ELF file.
  Result<Staleness> of(const std::string& module_path);

 private:
  using Checksum = std::array<std::uint8_t, 16>;
  bool differs(const std::string& source, const Checksum& recorded);
  bool newer(const std::string& source, const std::string& module_path) const;

  std::string root_;
  SourcePaths paths_;
  std::map<std::string, std::optional<Checksum>> checksums_;  ///< of the files on disk
};

}  // namespace simrt::analysis
