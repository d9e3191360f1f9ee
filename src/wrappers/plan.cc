#include "wrappers/plan.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace simrt::wrappers {
namespace {

constexpr std::string_view kClangCoverage = "-fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table";

void append(std::vector<std::string>& out, const std::vector<std::string>& more) {
  out.insert(out.end(), more.begin(), more.end());
}

bool has_code(const CommandLine& line) {
  return std::any_of(line.inputs.begin(), line.inputs.end(), [](const Input& input) {
    return input.language == Language::Code || input.path == "-";
  });
}

}  // namespace

bool strips_symbols(const std::string& argument) {
  static constexpr std::array<std::string_view, 5> kStrip = {"-s", "-Wl,-s", "-Wl,-S", "-Wl,--strip-all",
                                                             "-Wl,--strip-debug"};
  return std::find(kStrip.begin(), kStrip.end(), argument) != kStrip.end();
}

std::vector<std::string> instrumentation_flags(Family family) {
  if (family == Family::Clang) return {std::string(kClangCoverage)};
  // A tail call would report its caller's place; a function merged with an equal one would look as if it
  // never ran.
  return {"-fsanitize-coverage=trace-pc", "-fno-optimize-sibling-calls", "-fno-ipa-icf"};
}

// Each word for the linker alone: -Wl, would split paths with commas, and a bare path would be taken for
// source code behind -x.
std::vector<std::string> runtime_link_flags(const RuntimeFiles& runtime, bool statically) {
  std::vector<std::string> words = {"--push-state", "--whole-archive",
                                    runtime.directory + "/libsimrt_cover.a"};
  if (statically) {
    append(words, {runtime.directory + "/libsimrt_rt.a", "--no-whole-archive", "--pop-state",
                   "--wrap=pthread_create", "--wrap=thrd_create", "--wrap=_Fork"});
  } else {
    append(words, {"--no-whole-archive", "--no-as-needed", runtime.directory + "/libsimrt_rt.so",
                   "--pop-state", "-rpath", runtime.directory});
  }
  std::vector<std::string> flags;
  for (const std::string& word : words) append(flags, {"-Xlinker", word});
  return flags;
}

std::vector<std::string> instrumented_command(const Compiler& compiler, const CommandLine& line,
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
    append(command, instrumentation_flags(compiler.family));
    if (!line.has_debug_option) command.emplace_back("-g");
    // In one step the coverage flag would make clang link a sanitizer runtime; with a sanitizer of the user's
    // it has to.
    if (compiler.family == Family::Clang && links && !line.user_sanitizer) {
      command.emplace_back("-fno-sanitize-link-runtime");
    }
  }
  const bool adds_runtime = links && !line.relocatable && !line.linked_with_runtime;
  if (adds_runtime) append(command, runtime_link_flags(runtime, line.statically));
  for (const std::string& argument : line.arguments) {
    if (!(links && strips_symbols(argument))) command.push_back(argument);
  }
  if (instruments && line.has_debug_option && !line.debug_information) command.emplace_back("-g");
  return command;
}

}  // namespace simrt::wrappers
