#include "wrappers/hook_bitcode.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/hash.h"
#include "wrappers/run.h"

namespace simrt::wrappers {
namespace {

namespace fs = std::filesystem;

fs::path cache_directory() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const std::string own = variable("SIMRT_CACHE_DIR"); !own.empty()) return own;
  if (const std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return fs::path(xdg) / "simrt";
  if (const std::string home = variable("HOME"); !home.empty()) return fs::path(home) / ".cache" / "simrt";
  return {};
}

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Changes when the compiler is upgraded or the hook changes.
std::uint64_t key_of(const std::string& compiler, const fs::path& hooks) {
  std::error_code error;
  const fs::path real = fs::canonical(compiler, error);
  const auto written = fs::last_write_time(real, error).time_since_epoch().count();
  std::uint64_t key =
      hash_bytes(fmt::format("{}\n{}\n{}", real.string(), fs::file_size(real, error), written));
  key = hash_combine(key, hash_bytes(contents(hooks / "inline.cc")));
  return hash_combine(key, hash_bytes(contents(hooks / "cell.h")));
}

}  // namespace

std::string hook_bitcode(const Compiler& compiler, const RuntimeFiles& runtime) {
  const fs::path directory = cache_directory(), hooks = fs::path(runtime.directory) / "hooks";
  const std::string program = find_program(compiler.command.back());
  std::error_code error;
  if (directory.empty() || program.empty() || !fs::exists(hooks / "inline.cc", error)) return "";
  const fs::path file = directory / fmt::format("hook-{:016x}.bc", key_of(program, hooks));
  if (fs::exists(file, error)) return file.string();
  fs::create_directories(directory, error);
  const std::string temporary = fmt::format("{}.{}", file.string(), getpid());
  // No position-independence or unwind settings of its own: module flags of the two bitcode files are merged,
  // and the user's have to win.
  const std::vector<std::string> command = {program,
                                            "-x",
                                            "c++",
                                            "-std=c++20",
                                            "-O2",
                                            "-fno-exceptions",
                                            "-fno-pic",
                                            "-fno-pie",
                                            "-fomit-frame-pointer",
                                            "-fno-asynchronous-unwind-tables",
                                            "-fno-stack-protector",
                                            "-I",
                                            runtime.directory,
                                            "-c",
                                            "-emit-llvm",
                                            (hooks / "inline.cc").string(),
                                            "-o",
                                            temporary};
  if (run(command, Output::Discard).status != 0) return "";
  fs::rename(temporary, file, error);
  return error ? "" : file.string();
}

}  // namespace simrt::wrappers
