#include "pipeline/environment.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "support/files.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

/// "KEY:TYPE=VALUE" lines of a CMake cache.
std::map<std::string, std::string> read_cmake_cache(const std::string& directory) {
  std::map<std::string, std::string> values;
  const auto text = read_file(directory + "/CMakeCache.txt");
  std::istringstream in(text ? *text : "");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':'), equals = line.find('=');
    if (line.empty() || line.front() == '#' || line.front() == '/' || colon == std::string::npos || equals < colon) continue;
    values[line.substr(0, colon)] = line.substr(equals + 1);
  }
  return values;
}

/// CMake keeps what it found out about each compiler in CMakeFiles/<cmake version>/CMakeCXXCompiler.cmake.
std::string compiler_version(const std::string& directory) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory + "/CMakeFiles", error)) {
    const auto text = read_file((entry.path() / "CMakeCXXCompiler.cmake").string());
    if (!text) continue;
    const auto value_of = [&](const std::string& name) {
      const std::string start = "set(" + name + " \"";
      const std::size_t from = text->find(start);
      if (from == std::string::npos) return std::string();
      return text->substr(from + start.size(), text->find('"', from + start.size()) - from - start.size());
    };
    const std::string id = value_of("CMAKE_CXX_COMPILER_ID");
    if (!id.empty()) return id + " " + value_of("CMAKE_CXX_COMPILER_VERSION");
  }
  return "unknown compiler";
}

}  // namespace

history::Environment describe_environment(const std::string& instrumented_directory) {
  const auto cache = read_cmake_cache(instrumented_directory);
  const auto value = [&](const char* key) {
    const auto found = cache.find(key);
    return found == cache.end() ? std::string() : found->second;
  };
  std::string description = compiler_version(instrumented_directory);
  for (const char* key : {"CMAKE_BUILD_TYPE", "CMAKE_CXX_FLAGS", "CMAKE_C_FLAGS"})
    if (const std::string text = value(key); !text.empty()) description += fmt::format("; {}={}", key, text);
  description += "; simrt " SIMRT_VERSION;
  return {fmt::format("{:016x}", hash_bytes(description)), description};
}

}  // namespace simrt::pipeline
