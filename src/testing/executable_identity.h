// What a test executes, as one number: it changes when the program or a library of the project was rebuilt to
// other bytes, so that "has this test changed since it was recorded" needs no run.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "model/test.h"
#include "support/result.h"

namespace simrt::testing {

/// Computes identities and remembers the hash of each file by path, inode, size and modification time.
/// Thread-safe.
class ExecutableIdentity {
 public:
  /// Libraries and script arguments count only below one of `roots` (source and build directory of the
  /// project): what the system provides belongs to the environment key, not to the test.
  explicit ExecutableIdentity(std::vector<std::string> roots);

  /// Hash over the contents of the test's program, of the shared objects below the roots that the program's
  /// dynamic section names (transitively), and of arguments that are files below the roots (a script behind
  /// its interpreter). Independent of where the files lie. ErrorCode::Execution when the program cannot be
  /// read.
  Result<std::uint64_t> of(const TestCase& test);

 private:
  struct FileKey {
    std::string path;
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t modified_seconds = 0, modified_nanoseconds = 0;
    auto operator<=>(const FileKey&) const = default;
  };
  static bool key_of(const std::string& path, FileKey& key);
  Result<std::uint64_t> content_hash(const std::string& path);
  std::vector<std::string> libraries_of(const std::string& program, const std::string& library_path);
  bool below_roots(const std::string& path) const;

  std::vector<std::string> roots_;
  std::mutex mutex_;
  std::map<FileKey, std::uint64_t> hashes_;
  std::map<std::pair<FileKey, std::string>, std::vector<std::string>> libraries_;
};

}  // namespace simrt::testing
