// simrt-clang, simrt-clang++, simrt-gcc, simrt-g++: the user's compiler with recording switched on. The name
// chooses language and default compiler; $SIMRT_CC and $SIMRT_CXX choose the compiler. simrt-launch COMPILER
// ARGS...: as a CMake compiler launcher, for commands that already carry the flags (simrt-toolchain.cmake);
// adds only the inlining of the hook. $SIMRT_BUILD=check builds for `check` instead of recording.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "wrappers/assembly.h"
#include "wrappers/check_build.h"
#include "wrappers/command_line.h"
#include "wrappers/hook_bitcode.h"
#include "wrappers/plan.h"
#include "wrappers/run.h"
#include "wrappers/toolset.h"

namespace simrt::wrappers {
namespace {

int complain(const std::string& name, const Error& error) {
  fmt::print(stderr, "{}: {}\n", name, error.message);
  if (!error.hint.empty()) fmt::print(stderr, "{}: {}\n", name, error.hint);
  return 1;
}

bool inlining_wanted() {
  const char* value = std::getenv("SIMRT_INLINE");
  return value == nullptr || std::string(value) != "0";
}

// Puts the hook in line in an assembly file.
bool inline_hook_in(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  const auto rewritten = in ? inline_hook_calls(text.str()) : std::nullopt;
  return rewritten && static_cast<bool>(std::ofstream(file, std::ios::binary | std::ios::trunc)
                                        << *rewritten << std::flush);
}

// True when both steps worked. Otherwise nothing was printed or left behind, and the plain command has its
// say.
bool compile_in_two_steps(InlineSteps steps, Family family) {
  const bool gcc = family == Family::Gcc;
  if (isatty(STDERR_FILENO) != 0)
    steps.instrument.emplace_back(gcc ? "-fdiagnostics-color=always" : "-fcolor-diagnostics");
  const RunResult first = run(steps.instrument, Output::Collect);
  const bool good = first.status == 0 && (!gcc || inline_hook_in(steps.intermediate)) &&
                    run(steps.generate, Output::Collect).status == 0;
  std::error_code ignored;
  std::filesystem::remove(steps.intermediate, ignored);
  if (good) std::fputs(first.errors.c_str(), stderr);
  return good;
}

// The steps that put the hook in line, when the command is one that can be taken apart.
std::optional<InlineSteps> steps_of(const Compiler& compiler, const std::vector<std::string>& arguments,
                                    const RuntimeFiles& runtime) {
  if (compiler.family == Family::Gcc) {
#if defined(__x86_64__)
    return assembly_steps(compiler.command, arguments, runtime.directory + "/hooks/inline_gcc.h");
#else
    return std::nullopt;
#endif
  }
  if (!inline_steps(compiler.command, arguments, "")) return std::nullopt;
  const std::string bitcode = hook_bitcode(compiler, runtime);
  return bitcode.empty() ? std::nullopt : inline_steps(compiler.command, arguments, bitcode);
}

int execute(const Compiler& compiler, const std::vector<std::string>& command, const RuntimeFiles* runtime) {
  if (runtime != nullptr && inlining_wanted()) {
    const std::vector<std::string> arguments(
        command.begin() + static_cast<std::ptrdiff_t>(compiler.command.size()), command.end());
    const auto steps = steps_of(compiler, arguments, *runtime);
    if (steps && compile_in_two_steps(*steps, compiler.family)) return 0;
  }
  replace_process(command);
  return complain(command[0], {ErrorCode::Usage, "cannot be started", ""});
}

int launch(const std::string& name, const std::vector<std::string>& command) {
  std::size_t words = 0;
  const Compiler compiler = compiler_of(command, words);
  if (words == 0)
    return complain(name, {ErrorCode::Usage, "no compiler given", "use it as a CMake compiler launcher"});
  const auto runtime = find_runtime();
  return execute(compiler, command, runtime ? &*runtime : nullptr);
}

int wrap(const std::string& name, const std::vector<std::string>& arguments) {
  const CompilerLanguage language =
      name.size() > 2 && name.substr(name.size() - 2) == "++" ? CompilerLanguage::Cxx : CompilerLanguage::C;
  const Family family = name.find("clang") != std::string::npos ? Family::Clang : Family::Gcc;
  const auto compiler = find_compiler(language, family);
  if (!compiler) return complain(name, compiler.error());
  const auto runtime = find_runtime();
  if (!runtime) return complain(name, runtime.error());
  const auto build = build_of(std::getenv("SIMRT_BUILD"));
  if (!build) return complain(name, build.error());
  if (*build == Build::Check)
    return execute(*compiler, check_command(*compiler, parse_command_line(arguments), *runtime), nullptr);
  return execute(*compiler, instrumented_command(*compiler, parse_command_line(arguments), *runtime),
                 &*runtime);
}

}  // namespace
}  // namespace simrt::wrappers

int main(int argc, char** argv) {
  const std::string name = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "simrt-cc";
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return name == "simrt-launch" ? simrt::wrappers::launch(name, arguments)
                                : simrt::wrappers::wrap(name, arguments);
}
