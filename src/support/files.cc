// See files.h.
#include "support/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace simrt {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> storage_failure(std::string_view action, const std::string& path, int error) {
  std::string hint;
  if (error == ENOSPC || error == EDQUOT) hint = "free some disk space and repeat the command";
  if (error == EACCES || error == EPERM || error == EROFS) hint = "check the permissions of the directory";
  return fail(ErrorCode::Storage, fmt::format("cannot {} {}: {}", action, path, std::strerror(error)), hint);
}

/// 0 or errno.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// A new, empty file in the directory of `target`, with the mode any new file gets; -1 and errno.
int create_beside(const std::string& target, std::string& temporary) {
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary = fmt::format("{}.{}.{}.tmp", target, ::getpid(), counter.fetch_add(1));
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;  // EEXIST: left by a killed process
  }
  return -1;
}

/// Makes a rename in the directory durable; a file system that cannot do it is not an error.
void sync_directory(const std::string& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::uint64_t most) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return storage_failure("read", path, errno);
  std::string bytes;
  struct stat status = {};
  if (::fstat(descriptor, &status) == 0 && status.st_size > 0) {
    bytes.reserve(std::min(static_cast<std::uint64_t>(status.st_size), most));
  }
  char buffer[65'536];
  while (bytes.size() < most) {
    const ssize_t got =
        ::read(descriptor, buffer, std::min<std::uint64_t>(sizeof buffer, most - bytes.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      ::close(descriptor);
      return storage_failure("read", path, error);
    }
    if (got == 0) break;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(descriptor);
  return bytes;
}

Status write_file_atomically(const std::string& path, std::string_view bytes) {
  std::error_code ignored;
  const std::string target = fs::is_symlink(path, ignored) ? canonical_path(path) : path;
  const fs::path parent = fs::path(target).parent_path();
  std::string temporary;
  const int descriptor = create_beside(target, temporary);
  if (descriptor < 0) return storage_failure("write", path, errno);
  struct stat existing = {};
  if (::stat(target.c_str(), &existing) == 0) ::fchmod(descriptor, existing.st_mode & 07777);
  int error = write_all(descriptor, bytes);
  if (error == 0 && ::fsync(descriptor) != 0) error = errno;
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    return storage_failure("write", path, error);
  }
  sync_directory(parent.empty() ? "." : parent.string());
  return {};
}

Status make_directories(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return storage_failure("create the directory", path, error.value());
  if (!is_directory(path)) return storage_failure("create the directory", path, ENOTDIR);
  return {};
}

Status remove_tree(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return storage_failure("remove", path, error.value());
  return {};
}

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_directory(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::string absolute_path(const std::string& path, const std::string& base) {
  fs::path normal = (fs::path(base) / path).lexically_normal();
  if (!normal.has_filename() && normal.has_relative_path()) normal = normal.parent_path();
  return normal.string();
}

std::string canonical_path(const std::string& path) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(path, error);
  return absolute_path(error ? path : canonical.string(), fs::current_path(error).string());
}

std::optional<std::string> relative_to(const std::string& path, const std::string& root) {
  const std::string folder = absolute_path(root, "");
  const std::string inner = absolute_path(path, "");
  if (inner == folder) return std::string();
  if (folder == "/") return inner.starts_with('/') ? std::optional(inner.substr(1)) : std::nullopt;
  if (inner.size() <= folder.size() || !inner.starts_with(folder) || inner[folder.size()] != '/') {
    return std::nullopt;
  }
  return inner.substr(folder.size() + 1);
}

Result<TemporaryDirectory> TemporaryDirectory::create(std::string_view prefix, const std::string& parent) {
  std::string folder = parent;
  if (folder.empty()) {
    const char* configured = std::getenv("TMPDIR");
    folder = configured != nullptr && *configured != '\0' ? configured : "/tmp";
  }
  std::string path = fmt::format("{}/{}.XXXXXX", folder, prefix);
  if (::mkdtemp(path.data()) == nullptr) return storage_failure("create a directory in", folder, errno);
  return TemporaryDirectory(std::move(path));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryDirectory::~TemporaryDirectory() {
  if (!path_.empty()) [[maybe_unused]]
    const Status ignored = remove_tree(path_);
}

}  // namespace simrt
