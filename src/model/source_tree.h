// The files of one revision, without a checkout. Implemented by the git layer, read by the analysis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace simrt {

struct TreeEntry {
  enum class Kind : std::uint8_t { File, Directory, Symlink };
  Kind kind = Kind::File;
  std::string id;          ///< blob id as hex (work tree: hash of the bytes, same function as git's blob id)
  std::uint64_t size = 0;  ///< bytes; 0 for directories
};

/// Paths are repository-relative with '/' and no leading "./"; "" is the root. All members are thread-safe.
class SourceTree {
 public:
  virtual ~SourceTree() = default;
  /// Does not follow symlinks. Entries of submodules appear as directories of this tree where they are
  /// available.
  virtual std::optional<TreeEntry> find(std::string_view path) const = 0;
  virtual std::vector<std::pair<std::string, TreeEntry>> list(std::string_view directory) const = 0;
  /// Bytes of a file, or the target of a symlink.
  virtual std::optional<std::string> read(std::string_view path) const = 0;
  /// Every file path, sorted.
  virtual std::vector<std::string> files() const = 0;
  /// Commit id as hex, or "worktree".
  virtual std::string identity() const = 0;
};

}  // namespace simrt
