// Files and paths, with errors as results. Every write is all or nothing; a full disk is ErrorCode::Storage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace simrt {

/// Whole contents, or the first `most` bytes. ErrorCode::Storage when it cannot be opened or read.
Result<std::string> read_file(const std::string& path, std::uint64_t most = UINT64_MAX);

/// Replaces `path` as one step (temporary file beside it, fsync, rename): a reader, or a crash at any moment,
/// sees the old bytes or the new ones. Keeps the mode of an existing file; follows a symbolic link.
Status write_file_atomically(const std::string& path, std::string_view bytes);

/// mkdir -p. Success when it exists.
Status make_directories(const std::string& path);

/// rm -r. Success when it does not exist.
Status remove_tree(const std::string& path);

bool is_file(const std::string& path);       ///< regular file, links followed
bool is_directory(const std::string& path);  ///< links followed

/// `path` seen from `base` when it is relative; lexically normal ("a/../b" -> "b", no trailing slash).
std::string absolute_path(const std::string& path, const std::string& base);

/// All links resolved; what does not exist is appended as it is, normalised.
std::string canonical_path(const std::string& path);

/// The part of `path` below `root` ("" for the root itself), both compared lexically; nothing when outside.
std::optional<std::string> relative_to(const std::string& path, const std::string& root);

/// A directory that disappears with its owner, contents included.
class TemporaryDirectory {
 public:
  /// Below `parent`, or below $TMPDIR (else /tmp) when that is empty.
  static Result<TemporaryDirectory> create(std::string_view prefix = "simrt", const std::string& parent = {});
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;
  ~TemporaryDirectory();
  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace simrt
