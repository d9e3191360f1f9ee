#include "wrappers/check_build.h"

#include <algorithm>

namespace simrt::wrappers {
namespace {

void append(std::vector<std::string>& out, const std::vector<std::string>& more) {
  out.insert(out.end(), more.begin(), more.end());
}

bool has_code(const CommandLine& line) {
  return std::any_of(line.inputs.begin(), line.inputs.end(), [](const Input& input) {
    return input.language == Language::Code || input.path == "-";
  });
}

// First on the line, so that it is found before libc; each word for the linker alone (see plan.cc).
std::vector<std::string> link_flags(const RuntimeFiles& runtime) {
  std::vector<std::string> flags;
  for (const std::string& word :
       {std::string("--push-state"), std::string("--no-as-needed"), runtime.directory + "/libsimrt_check.so",
        std::string("--pop-state"), std::string("-rpath"), runtime.directory}) {
    append(flags, {"-Xlinker", word});
  }
  return flags;
}

}  // namespace

Result<Build> build_of(const char* variable) {
  const std::string value = variable == nullptr ? "" : variable;
  if (value.empty() || value == "record") return Build::Record;
  if (value == "check") return Build::Check;
  return fail(ErrorCode::Usage, "SIMRT_BUILD is '" + value + "'", "use 'record' or 'check'");
}

std::vector<std::string> check_flags(Family family) {
  std::vector<std::string> flags = {"-fsanitize=thread", "-fno-omit-frame-pointer"};
  if (family == Family::Clang) append(flags, {"-mllvm", "-tsan-instrument-read-before-write"});
  // gcc warns of every fence, which ThreadSanitizer does not know and our runtime does.
  if (family == Family::Gcc) flags.emplace_back("-Wno-tsan");
  return flags;
}

std::vector<std::string> check_command(const Compiler& compiler, const CommandLine& line,
                                       const RuntimeFiles& runtime) {
  std::vector<std::string> command = compiler.command;
  const bool links = line.action == Action::Link || line.action == Action::CompileAndLink;
  const bool compiles = line.action == Action::Compile || line.action == Action::CompileAndLink;
  if (line.foreign_target || !(links || compiles)) {
    append(command, line.arguments);
    return command;
  }
  const bool instruments = compiles && has_code(line);
  if (instruments) {
    append(command, check_flags(compiler.family));
    if (!line.has_debug_option) command.emplace_back("-g");
    // In one step both drivers would add ThreadSanitizer's own runtime (and -fno-sanitize=thread would switch
    // the instrumentation off). clang can be told not to; gcc's -ltsan finds ours under that name.
    if (links) {
      if (compiler.family == Family::Clang) {
        command.emplace_back("-fno-sanitize-link-runtime");
      } else {
        append(command, {"-L", runtime.directory + "/in_place_of_tsan"});
      }
    }
  }
  if (links && !line.relocatable && !line.linked_with_runtime) append(command, link_flags(runtime));
  for (const std::string& argument : line.arguments) {
    if (!(links && strips_symbols(argument))) command.push_back(argument);
  }
  if (instruments && line.has_debug_option && !line.debug_information) command.emplace_back("-g");
  return command;
}

}  // namespace simrt::wrappers
