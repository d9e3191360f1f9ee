// The paths of one tree: what is where, and what lies in which directory. No contents, no git.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/source_tree.h"

namespace simrt::git {

class PathTable {
 public:
  static constexpr std::size_t kRoot = 0;

  PathTable();

  /// Adds a file or symlink and its parent directories, or a directory. `value` is the owner's own number for
  /// it. A path that is there already keeps its first entry.
  void add(const std::string& path, TreeEntry::Kind kind, std::size_t value = 0);

  struct Node {
    std::string path;
    TreeEntry::Kind kind = TreeEntry::Kind::Directory;
    std::size_t value = 0;
    std::vector<std::size_t> children;  ///< directories only
  };
  const Node* find(std::string_view path) const;
  const Node& node(std::size_t index) const { return nodes_[index]; }
  /// Paths of everything that is not a directory, sorted.
  std::vector<std::string> files() const;

 private:
  std::size_t directory(std::string_view path);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::vector<Node> nodes_;
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> index_;
};

/// Last component of a path.
std::string base_name(std::string_view path);

}  // namespace simrt::git
