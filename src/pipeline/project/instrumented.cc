#include "pipeline/project/instrumented.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "pipeline/project/text.h"

namespace simrt::project {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxBinaries = 400;
constexpr std::size_t kMaxEntries = 200000;

bool is_executable_elf(const fs::directory_entry& entry) {
  std::error_code error;
  if (!entry.is_regular_file(error) || error) return false;
  const std::string name = entry.path().filename();
  const bool shared_object = name.find(".so") != std::string::npos;
  const auto mode = entry.status(error).permissions();
  if (!shared_object && (mode & fs::perms::owner_exec) == fs::perms::none) return false;
  char magic[4] = {};
  std::ifstream(entry.path(), std::ios::binary).read(magic, sizeof magic);
  return std::string_view(magic, sizeof magic) ==
         "\x7f"
         "ELF";
}

}  // namespace

bool is_simrt_wrapper(std::string_view program) { return base_name(program).starts_with("simrt-"); }

bool is_simrt_toolchain(std::string_view toolchain_file) {
  return base_name(toolchain_file).find("simrt") != std::string_view::npos;
}

namespace {

bool holds_one_of(const std::string& path, const std::vector<std::string_view>& names) {
  std::ifstream in(path, std::ios::binary);
  // Names of sections (clang) and of the callback (gcc) stand at the file's end or in its dynamic strings;
  // the file is read in pieces that overlap by more than the longest name.
  constexpr std::size_t kPiece = 1 << 20;
  constexpr std::size_t kOverlap = 64;
  std::string window;
  std::string piece(kPiece, '\0');
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(kPiece));
    window.append(piece, 0, static_cast<std::size_t>(in.gcount()));
    for (std::string_view name : names) {
      if (window.find(name) != std::string::npos) return true;
    }
    if (window.size() > kOverlap) window.erase(0, window.size() - kOverlap);
  }
  return false;
}

std::string find_binary(const std::string& directory, bool (*wanted)(const std::string&)) {
  std::error_code error;
  std::vector<std::string> binaries;
  std::size_t entries = 0;
  const auto options = fs::directory_options::skip_permission_denied;
  for (auto it = fs::recursive_directory_iterator(directory, options, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (++entries > kMaxEntries || binaries.size() >= kMaxBinaries) break;
    if (is_executable_elf(*it)) binaries.push_back(it->path());
  }
  std::sort(binaries.begin(), binaries.end());
  auto found = std::find_if(binaries.begin(), binaries.end(), wanted);
  return found == binaries.end() ? std::string() : *found;
}

bool is_check_binary(const std::string& path) { return holds_one_of(path, {"libsimrt_check.so"}); }

}  // namespace

bool is_instrumented_binary(const std::string& path) {
  return holds_one_of(path, {"__sancov_guards", "__sanitizer_cov_trace_pc"});
}

std::string find_instrumented_binary(const std::string& directory) {
  return find_binary(directory, is_instrumented_binary);
}

std::string find_check_binary(const std::string& directory) {
  return find_binary(directory, is_check_binary);
}

}  // namespace simrt::project
