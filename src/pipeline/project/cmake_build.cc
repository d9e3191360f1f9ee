#include "pipeline/project/cmake_build.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "pipeline/project/instrumented.h"
#include "pipeline/project/text.h"
#include "support/files.h"

namespace simrt::project {
namespace {

namespace fs = std::filesystem;

std::string entry(const std::map<std::string, std::string>& cache, const std::string& key) {
  auto found = cache.find(key);
  return found == cache.end() ? std::string() : found->second;
}

CompilerFamily family_of(std::string_view id) {
  if (id == "Clang") return CompilerFamily::Clang;
  if (id == "GNU") return CompilerFamily::Gcc;
  return CompilerFamily::Other;
}

/// CMakeFiles/<version>/CMake<LANG>Compiler.cmake says what CMake found out about the compilers.
std::vector<Compiler> compilers_of(const std::string& path) {
  std::vector<Compiler> compilers;
  std::vector<fs::path> directories;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(path + "/CMakeFiles", error)) {
    if (item.is_directory(error)) directories.push_back(item.path());
  }
  std::sort(directories.begin(), directories.end());
  for (const auto& [language, shown] : {std::pair("C", "C"), std::pair("CXX", "C++")}) {
    const std::string prefix = std::string("CMAKE_") + language + "_COMPILER";
    for (const fs::path& directory : directories) {
      const std::string text = text_of(directory / (std::string("CMake") + language + "Compiler.cmake"));
      const auto program = cmake_set(text, prefix);
      if (!program || program->empty()) continue;
      compilers.push_back({shown, *program, family_of(cmake_set(text, prefix + "_ID").value_or("")),
                           cmake_set(text, prefix + "_VERSION").value_or("")});
      break;
    }
  }
  return compilers;
}

void visit_test_files(const std::string& directory, std::set<std::string>& seen, bool& found) {
  if (found || seen.size() > 10000 || !seen.insert(directory).second) return;
  const std::string text = text_of(directory + "/CTestTestfile.cmake");
  for (std::string_view line : lines_of(text)) {
    // gtest_discover_tests writes include("..._include.cmake") here; the tests follow when the program is
    // built.
    if (line.starts_with("add_test(") || line.starts_with("include(")) found = true;
    constexpr std::string_view kSubdirectory = "subdirs(";
    if (!line.starts_with(kSubdirectory)) continue;
    std::string_view name = line.substr(kSubdirectory.size());
    name = name.substr(0, name.find(')'));
    if (name.size() >= 2 && name.front() == '"') name = name.substr(1, name.rfind('"') - 1);
    visit_test_files(absolute_path(std::string(name), directory), seen, found);
  }
}

}  // namespace

bool ctest_has_tests(const std::string& build_directory) {
  std::set<std::string> seen;
  bool found = false;
  visit_test_files(build_directory, seen, found);
  return found;
}

std::optional<BuildDirectory> read_cmake_build(const std::string& path, const std::string& root) {
  const auto cache = cmake_cache(text_of(path + "/CMakeCache.txt"));
  const std::string source = canonical_path(entry(cache, "CMAKE_HOME_DIRECTORY"));
  if (entry(cache, "CMAKE_HOME_DIRECTORY").empty() || !relative_to(source, canonical_path(root)))
    return std::nullopt;
  if (canonical_path(entry(cache, "CMAKE_CACHEFILE_DIR")) != canonical_path(path)) return std::nullopt;

  BuildDirectory build;
  build.path = path;
  build.system = BuildSystem::CMake;
  build.source = source;
  build.build_type = entry(cache, "CMAKE_BUILD_TYPE");
  build.compilers = compilers_of(path);
  build.instrumented =
      is_simrt_toolchain(entry(cache, "CMAKE_TOOLCHAIN_FILE")) ||
      is_simrt_wrapper(entry(cache, "CMAKE_CXX_COMPILER")) ||
      is_simrt_wrapper(entry(cache, "CMAKE_C_COMPILER")) ||
      std::any_of(build.compilers.begin(), build.compilers.end(),
                  [](const Compiler& compiler) { return is_simrt_wrapper(compiler.program); });
  build.for_check = build.instrumented && entry(cache, "SIMRT_BUILD") == "check";
  if (is_file(path + "/compile_commands.json")) build.compile_database = path + "/compile_commands.json";
  build.has_tests = ctest_has_tests(path);
  return build;
}

}  // namespace simrt::project
