#include "wrappers/toolset.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

namespace simrt::wrappers {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string base_name(const std::string& path) { return fs::path(path).filename().string(); }

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> result;
  for (std::string word; in >> word;) result.push_back(word);
  return result;
}

bool is_wrapper(const std::string& program) { return base_name(program).rfind("simrt-", 0) == 0; }

bool is_launcher(const std::string& program) {
  const std::string name = base_name(program);
  return name == "ccache" || name == "sccache" || name == "distcc" || name == "icecc";
}

std::string first_line_of_version(const std::string& program) {
  std::string quoted = "'";
  for (char c : program) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((quoted + "' --version 2>/dev/null").c_str(), "r"),
                                                   &pclose);
  char line[512] = {};
  if (!pipe || std::fgets(line, sizeof line, pipe.get()) == nullptr) return "";
  return line;
}

std::vector<std::string> default_names(CompilerLanguage language, Family family) {
  const std::string name = family == Family::Clang ? (language == CompilerLanguage::Cxx ? "clang++" : "clang")
                                                   : (language == CompilerLanguage::Cxx ? "g++" : "gcc");
  std::vector<std::string> names = {name};
  const int newest = family == Family::Clang ? 19 : 14, oldest = family == Family::Clang ? 14 : 12;
  for (int version = newest; version >= oldest; --version)
    names.push_back(name + "-" + std::to_string(version));
  return names;
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  std::istringstream path(environment("PATH"));
  for (std::string directory; std::getline(path, directory, ':');) {
    const std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate)) return candidate;
  }
  return "";
}

Family family_of(const std::string& program) {
  const std::string name = base_name(program);
  if (name.find("clang") != std::string::npos) return Family::Clang;
  if (name.find("gcc") != std::string::npos || name.find("g++") != std::string::npos) return Family::Gcc;
  return first_line_of_version(program).find("clang") != std::string::npos ? Family::Clang : Family::Gcc;
}

Compiler compiler_of(const std::vector<std::string>& command, std::size_t& count) {
  count = 0;
  while (count < command.size() && is_launcher(command[count])) ++count;
  if (count < command.size()) ++count;
  Compiler compiler;
  compiler.command.assign(command.begin(), command.begin() + static_cast<std::ptrdiff_t>(count));
  if (!compiler.command.empty()) compiler.family = family_of(compiler.command.back());
  return compiler;
}

Result<Compiler> find_compiler(CompilerLanguage language, Family default_family) {
  const char* variable = language == CompilerLanguage::Cxx ? "SIMRT_CXX" : "SIMRT_CC";
  if (const auto chosen = words(environment(variable)); !chosen.empty()) {
    if (is_wrapper(chosen.back())) {
      return fail(ErrorCode::Usage, std::string(variable) + " names a simrt wrapper",
                  "set it to the real compiler");
    }
    if (find_program(chosen.back()).empty()) {
      return fail(ErrorCode::Usage, std::string(variable) + ": no such program: " + chosen.back());
    }
    return Compiler{chosen, family_of(chosen.back())};
  }
  for (const std::string& name : default_names(language, default_family)) {
    if (const std::string program = find_program(name); !program.empty())
      return Compiler{{program}, default_family};
  }
  return fail(ErrorCode::Usage, "no compiler found", std::string("install one or set ") + variable);
}

Result<RuntimeFiles> find_runtime() {
  std::vector<fs::path> candidates;
  if (const std::string directory = environment("SIMRT_LIB_DIR"); !directory.empty()) {
    candidates.emplace_back(directory);
  } else {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    const fs::path bin = error ? fs::path() : self.parent_path();
    for (const char* relative : {SIMRT_INSTALLED_LIB_FROM_BIN, "../lib/simrt", "../lib64/simrt"}) {
      candidates.push_back((bin / relative).lexically_normal());
    }
    candidates.push_back((bin / "../lib").lexically_normal());  // build tree
  }
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    if (fs::exists(candidate / "libsimrt_cover.a", error)) return RuntimeFiles{candidate.string()};
  }
  return fail(ErrorCode::Usage, "the simrt runtime (libsimrt_cover.a) was not found",
              "set SIMRT_LIB_DIR to its directory");
}

}  // namespace simrt::wrappers
