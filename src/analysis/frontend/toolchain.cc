#include "analysis/frontend/toolchain.h"

#include <clang/Basic/Version.h>

#include <filesystem>

namespace simrt::analysis {

namespace {
// The distribution's LLVM prefix; the binary may be moved to a machine that has it elsewhere.
std::string llvm_bin_directory() { return SIMRT_LLVM_BINDIR; }
}  // namespace

std::string clang_driver(bool cxx) { return llvm_bin_directory() + (cxx ? "/clang++" : "/clang"); }

std::string clang_resource_directory() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path base = fs::path(llvm_bin_directory()).parent_path() / "lib" / "clang";
  for (const std::string& version :
       {std::string(CLANG_VERSION_STRING), std::string(CLANG_VERSION_MAJOR_STRING)}) {
    const fs::path candidate = base / version;
    if (fs::exists(candidate / "include" / "stddef.h", error)) return candidate.string();
  }
  return {};
}

std::string clang_version() { return clang::getClangFullVersion(); }

}  // namespace simrt::analysis
