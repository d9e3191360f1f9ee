// Which file a path means at one revision: a blob of the tree, nothing, or a file of the machine. This is
// where "read without a checkout" is decided; knows nothing of clang's parser.
#pragma once

#include <llvm/Support/Chrono.h>
#include <llvm/Support/ErrorOr.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/source_tree.h"

namespace simrt::analysis {

/// Where a path leads, every symlink on the way resolved.
struct Route {
  enum class Kind : std::uint8_t {
    Tree,     ///< `path` is repository-relative and exists in the tree
    Missing,  ///< the path exists nowhere at this revision
    Disk      ///< `path` is absolute; it may or may not exist on the disk
  };
  Kind kind = Kind::Missing;
  std::string path;
  std::vector<std::string> links;  ///< symlinks of the tree that were followed, repository-relative
};

/// Begins a question to SourceView::answer() for the names in a directory.
inline constexpr char kListingQuestion = '*';

/// One revision's files over one machine's disk. Thread-safe; shared by all parses of that revision. What it
/// has looked up on the disk it remembers, so it should live for one analysis only.
class SourceView {
 public:
  /// `root` is the absolute path of the work tree, `other_paths` what the other revision of a comparison
  /// tracks.
  SourceView(const std::string& root, std::shared_ptr<const SourceTree> tree,
             const std::vector<std::string>& other_paths);

  /// `absolute` may contain "." and ".."; these are resolved as the kernel does, after the symlink before
  /// them.
  Route route(std::string_view absolute) const;

  /// Status of what a route leads to, under the name `requested`.
  llvm::ErrorOr<llvm::vfs::Status> status(const Route& route, const std::string& requested) const;

  /// What decides how the file system answers a question about an absolute path: where it leads, and the
  /// content there (files of the disk: size and time). Behind kListingQuestion: the names in the directory.
  /// Equal answers to all questions of a parse mean an equal parse.
  std::uint64_t answer(const std::string& question) const;

  /// Bytes of a file of the tree; null when it is none. Kept for the life of the view.
  std::shared_ptr<const std::string> contents(const std::string& repository_path) const;

  /// A file that exists in neither place, at an absolute path (the source of a precompiled header).
  void add_virtual_file(const std::string& absolute, std::string bytes);
  std::shared_ptr<const std::string> virtual_file(std::string_view absolute) const;

  /// Repository-relative path of a file of the tree, however it was reached; nullopt for everything else.
  std::optional<std::string> repository_path(std::string_view absolute) const;

  const std::string& root() const { return root_; }
  const SourceTree& tree() const { return *tree_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  template <class Value>
  using PathMap = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;

  class Walk;
  Route directory_route(std::string_view absolute) const;
  Route resolve(const Route& parent, std::string_view rest) const;
  std::uint64_t content_answer(const Route& route) const;
  std::uint64_t listing_answer(const Route& route) const;

  std::string root_;  ///< symlinks resolved
  std::shared_ptr<const SourceTree> tree_;
  std::unordered_set<std::string> other_paths_;
  mutable std::shared_mutex mutex_;  // guards the maps below
  mutable PathMap<Route> routes_;
  mutable PathMap<Route> directories_;
  mutable PathMap<llvm::ErrorOr<llvm::vfs::Status>> disk_status_;
  mutable PathMap<std::uint64_t> answers_;
  mutable PathMap<std::shared_ptr<const std::string>> contents_;
  PathMap<std::shared_ptr<const std::string>> virtual_files_;
};

}  // namespace simrt::analysis
