#include "pipeline/check/tsan_runtime.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "pipeline/project/cmake_build.h"
#include "support/subprocess.h"

namespace simrt::pipeline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOurName = "libsimrt_check.so";  // DT_SONAME of src/runtime's library

/// What the compiler says it would link; empty when it has none (it then repeats the name).
std::string file_of(const std::string& compiler, const std::string& name) {
  ProcessSpec spec;
  spec.command = {compiler, "-print-file-name=" + name};
  spec.timeout_seconds = 20;
  const auto result = run_process(spec);
  if (!result || !result->succeeded()) return {};
  const std::string path = result->output.substr(0, result->output.find('\n'));
  return path.starts_with('/') && is_file(path) ? canonical_path(path) : std::string();
}

}  // namespace

Result<TemporaryDirectory> stand_in_for_runtime(const std::string& build, const std::string& root) {
  std::vector<std::string> clangs, gccs;
  if (const auto found = project::read_cmake_build(build, root))
    for (const project::Compiler& compiler : found->compilers)
      (compiler.family == project::CompilerFamily::Gcc ? gccs : clangs).push_back(compiler.program);
  // clang's runtime serves gcc's objects, too; the other way round some entry points are missing.
  for (const char* name : {"clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14", "clang"})
    clangs.emplace_back(name);
  gccs.emplace_back("gcc");
  std::string runtime;
  for (const std::string& compiler : clangs)
    for (const char* name : {"libclang_rt.tsan-x86_64.so", "libclang_rt.tsan.so"})
      if (runtime.empty()) runtime = file_of(compiler, name);
  for (const std::string& compiler : gccs)
    if (runtime.empty()) runtime = file_of(compiler, "libtsan.so");
  if (runtime.empty())
    return fail(ErrorCode::Project,
                "--detector tsan needs ThreadSanitizer's shared runtime, which no compiler has",
                "apt-get install libclang-rt-19-dev");
  auto directory = TemporaryDirectory::create("simrt-tsan");
  if (!directory) return fail(directory.error());
  std::error_code error;
  fs::create_symlink(runtime, directory->file(kOurName), error);
  if (error) return fail(ErrorCode::Storage, "no link to " + runtime + ": " + error.message());
  return std::move(*directory);
}

}  // namespace simrt::pipeline
