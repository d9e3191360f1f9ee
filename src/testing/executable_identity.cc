// See executable_identity.h. A content hash on purpose: ignoring debug sections would be cheaper on rebuilds
// that only move lines, but the recorded coverage is keyed by exactly these line tables.
#include "testing/executable_identity.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "support/files.h"
#include "support/hash.h"
#include "support/subprocess.h"
#include "testing/elf_image.h"

namespace simrt::testing {
namespace {

std::string variable_of(const TestCase& test, const std::string& name) {
  if (const auto own = test.environment.find(name); own != test.environment.end()) return own->second;
  const char* inherited = std::getenv(name.c_str());
  return inherited != nullptr ? inherited : "";
}

}  // namespace

ExecutableIdentity::ExecutableIdentity(std::vector<std::string> roots) {
  for (const std::string& root : roots) {
    if (!root.empty()) roots_.push_back(canonical_path(root));
  }
}

bool ExecutableIdentity::below_roots(const std::string& path) const {
  for (const std::string& root : roots_) {
    if (relative_to(path, root)) return true;
  }
  return false;
}

bool ExecutableIdentity::key_of(const std::string& path, FileKey& key) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return false;
  key = {path,
         status.st_dev,
         status.st_ino,
         static_cast<std::uint64_t>(status.st_size),
         status.st_mtim.tv_sec,
         status.st_mtim.tv_nsec};
  return true;
}

Result<std::uint64_t> ExecutableIdentity::content_hash(const std::string& path) {
  FileKey key;
  if (!key_of(path, key)) {
    return fail(ErrorCode::Execution,
                fmt::format("cannot read the test program {}: {}", path, std::strerror(errno)),
                "build the project's tests");
  }
  {
    const std::scoped_lock lock(mutex_);
    if (const auto known = hashes_.find(key); known != hashes_.end()) return known->second;
  }
  const auto bytes = read_file(path);  // outside the lock: the files of several tests are read at once
  if (!bytes) return fail(ErrorCode::Execution, bytes.error().message, bytes.error().hint);
  const std::uint64_t hash = hash_bytes(*bytes);
  const std::scoped_lock lock(mutex_);
  hashes_.emplace(key, hash);
  return hash;
}

std::vector<std::string> ExecutableIdentity::libraries_of(const std::string& program,
                                                          const std::string& library_path) {
  FileKey key;
  if (!key_of(program, key)) return {};
  const auto index = std::pair(key, library_path);
  {
    const std::scoped_lock lock(mutex_);
    if (const auto known = libraries_.find(index); known != libraries_.end()) return known->second;
  }
  std::vector<std::string> inside;
  for (const std::string& library : find_libraries(program, library_path)) {
    if (below_roots(library)) inside.push_back(library);
  }
  const std::scoped_lock lock(mutex_);
  return libraries_.emplace(index, std::move(inside)).first->second;
}

Result<std::uint64_t> ExecutableIdentity::of(const TestCase& test) {
  if (test.command.empty())
    return fail(ErrorCode::Execution, fmt::format("the test {} has no command", test.name));
  const std::string here = test.directory.empty() ? std::filesystem::current_path().string() : test.directory;
  const std::string found = find_program(test.command.front(), here, variable_of(test, "PATH"));
  const std::string program =
      canonical_path(absolute_path(found.empty() ? test.command.front() : found, here));
  std::vector<std::string> files = {program};
  for (const std::string& library : libraries_of(program, variable_of(test, "LD_LIBRARY_PATH"))) {
    files.push_back(library);
  }
  const bool interpreted = !below_roots(program);  // else arguments are data, or even the test's own output
  for (std::size_t i = 1; interpreted && i < test.command.size(); ++i) {
    const std::string& argument = test.command[i];
    if (argument.empty() || argument.front() == '-') continue;
    const std::string path = canonical_path(absolute_path(argument, here));
    if (below_roots(path) && is_file(path)) files.push_back(path);
  }
  std::uint64_t identity = files.size();
  for (const std::string& file : files) {
    const auto hash = content_hash(file);
    if (!hash) return hash;
    identity = hash_combine(identity, *hash);
  }
  return identity;
}

}  // namespace simrt::testing
