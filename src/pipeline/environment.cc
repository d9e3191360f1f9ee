#include "pipeline/environment.h"

#include <fmt/format.h>

#include "pipeline/project/cmake_build.h"
#include "pipeline/project/meson_build.h"
#include "pipeline/project/text.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

std::string compilers_of(const std::string& directory, const std::string& root) {
  auto build = project::read_cmake_build(directory, root);
  if (!build) build = project::read_meson_build(directory, root);
  std::string text;
  for (const project::Compiler& compiler : build ? build->compilers : std::vector<project::Compiler>{}) {
    const char* family = compiler.family == project::CompilerFamily::Clang ? "clang"
                         : compiler.family == project::CompilerFamily::Gcc ? "gcc"
                                                                           : "other";
    text += fmt::format("{}{}: {} {}", text.empty() ? "" : "; ", compiler.language, family, compiler.version);
  }
  return text.empty() ? "unknown compiler" : text;
}

}  // namespace

history::Environment describe_environment(const std::string& instrumented_directory,
                                          const std::string& root) {
  std::string description = compilers_of(instrumented_directory, root);
  const auto cache = project::cmake_cache(project::text_of(instrumented_directory + "/CMakeCache.txt"));
  for (const char* key : {"CMAKE_BUILD_TYPE", "CMAKE_CXX_FLAGS", "CMAKE_C_FLAGS"})
    if (const auto found = cache.find(key); found != cache.end() && !found->second.empty())
      description += fmt::format("; {}={}", key, found->second);
  description += "; simrt " SIMRT_VERSION;
  return {fmt::format("{:016x}", hash_bytes(description)), description};
}

}  // namespace simrt::pipeline
