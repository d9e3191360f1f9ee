// The two-step compilations of plan.h: which commands qualify, and which options belong to which step.
#include <algorithm>
#include <array>
#include <string_view>

#include "wrappers/plan.h"

namespace simrt::wrappers {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Options that would act in both steps, or change what a step produces. The command then stays as it is.
bool disqualifies(const std::string& o) {
  static constexpr std::array<std::string_view, 26> kPrefixes = {"-flto",
                                                                 "-fsanitize=",
                                                                 "-fprofile",
                                                                 "-fcs-profile",
                                                                 "-fauto-profile",
                                                                 "--coverage",
                                                                 "-ftest-coverage",
                                                                 "-fcoverage-mapping",
                                                                 "-save-temps",
                                                                 "--save-temps",
                                                                 "-gsplit-dwarf",
                                                                 "-fmodule",
                                                                 "-fembed-bitcode",
                                                                 "-emit-llvm",
                                                                 "-S",
                                                                 "-fxray",
                                                                 "-finstrument-functions",
                                                                 "-fpass-plugin",
                                                                 "-fplugin",
                                                                 "-ftime-trace",
                                                                 "--offload",
                                                                 "-fthinlto",
                                                                 "-foffload",
                                                                 "-fstack-usage",
                                                                 "-fshort-wchar",
                                                                 "--precompile"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view p) { return starts_with(o, p); }) ||
         o == "-v" || o == "-o-" || o == "-pg" || o == "-fopenmp-targets" || o == "-Xarch_host";
}

// Options of the front end: done with when the bitcode is written.
bool front_end_only(const std::string& o) {
  static constexpr std::array<std::string_view, 18> kPrefixes = {"-I",
                                                                 "-D",
                                                                 "-U",
                                                                 "-i",
                                                                 "-std=",
                                                                 "--std=",
                                                                 "-W",
                                                                 "-pedantic",
                                                                 "-M",
                                                                 "-x",
                                                                 "-ansi",
                                                                 "-nostdinc",
                                                                 "-Xclang",
                                                                 "-Xpreprocessor",
                                                                 "-fsanitize-coverage",
                                                                 "-stdlib",
                                                                 "-ferror-limit",
                                                                 "-fmessage-length"};
  if (starts_with(o, "-Wa,")) return false;
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view p) { return starts_with(o, p); }) ||
         o == "-w" || o == "-c" || o == "-P" || o == "-C";
}

std::string object_name(const std::string& source) {
  const auto slash = source.rfind('/');
  const std::string name = slash == std::string::npos ? source : source.substr(slash + 1);
  return name.substr(0, name.rfind('.')) + ".o";
}

std::string dependency_name(const std::string& object) {
  const auto slash = object.rfind('/');
  const auto dot = object.rfind('.');
  return dot == std::string::npos || (slash != std::string::npos && dot < slash)
             ? object + ".d"
             : object.substr(0, dot) + ".d";
}

// Nothing can stand beside it.
bool is_device(const std::string& output) {
  return starts_with(output, "/dev/") && !starts_with(output, "/dev/shm/");
}

// gcc: what would name its side outputs after the intermediate, or put another language into it.
bool disqualifies_assembly(const std::string& o) {
  static constexpr std::array<std::string_view, 9> kPrefixes = {
      "-masm=", "-fdump", "-fopt-info", "-dump", "-aux-info", "-specs", "-wrapper", "-fcallgraph-info", "-d"};
  return disqualifies(o) || (o.size() > 7 && o.substr(o.size() - 7) == "-header") ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view p) { return starts_with(o, p); });
}

// Compiling one makes a precompiled header.
bool is_header(const std::string& path) {
  static constexpr std::array<std::string_view, 4> kHeaders = {".h", ".hh", ".hpp", ".hxx"};
  return std::any_of(kHeaders.begin(), kHeaders.end(), [&](std::string_view end) {
    return path.size() > end.size() && path.substr(path.size() - end.size()) == end;
  });
}

bool is_one_compilation(const CommandLine& line, const std::vector<std::string>& arguments) {
  return line.action == Action::Compile && !line.response_files && !line.foreign_target &&
         line.inputs.size() == 1 && line.inputs[0].language == Language::Code && line.output != "-" &&
         !is_device(line.output) && std::find(arguments.begin(), arguments.end(), "-c") != arguments.end();
}

bool qualifies(const CommandLine& line, const std::vector<std::string>& arguments) {
  const bool guards = std::any_of(arguments.begin(), arguments.end(), [](const std::string& o) {
    return starts_with(o, "-fsanitize-coverage=") && o.find("trace-pc-guard") != std::string::npos;
  });
  return guards && is_one_compilation(line, arguments) &&
         std::none_of(arguments.begin(), arguments.end(), disqualifies);
}

struct Options {
  std::vector<std::string> step1, step2;
  bool dependencies = false, dependency_file = false, dependency_target = false;
};

// Walks the arguments; the input stays in step 1 where it stood (-x applies to what follows).
Options divide(const CommandLine& line, const std::vector<std::string>& arguments) {
  Options out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& o = arguments[i];
    const bool pair = takes_value(o) && i + 1 < arguments.size();
    out.dependencies |= o == "-MD" || o == "-MMD";
    out.dependency_file |= starts_with(o, "-MF");
    out.dependency_target |= starts_with(o, "-MT") || starts_with(o, "-MQ");
    const bool is_output = starts_with(o, "-o") && !starts_with(o, "-object");
    if (!is_output) {
      out.step1.push_back(o);
      if (pair) out.step1.push_back(arguments[i + 1]);
      if (i != line.inputs[0].position && !front_end_only(o)) {
        out.step2.push_back(o);
        if (pair) out.step2.push_back(arguments[i + 1]);
      }
    }
    if (pair) ++i;
  }
  return out;
}

void add(std::vector<std::string>& to, const std::vector<std::string>& words) {
  to.insert(to.end(), words.begin(), words.end());
}

// The dependency file is named after the object, not after the intermediate.
void add_dependency_names(const Options& options, const std::string& object,
                          std::vector<std::string>& command) {
  if (!options.dependencies) return;
  if (!options.dependency_file) add(command, {"-MF", dependency_name(object)});
  if (!options.dependency_target) add(command, {"-MQ", object});
}

// What gcc hands to the assembler.
bool is_assembler_option(const std::string& o) {
  return starts_with(o, "-Wa,") || starts_with(o, "-m") || starts_with(o, "-B") || starts_with(o, "-gz") ||
         o == "-Xassembler" || o == "-pipe" || starts_with(o, "--sysroot");
}

std::vector<std::string> assembler_options(const std::vector<std::string>& arguments) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool pair = takes_value(arguments[i]) && i + 1 < arguments.size();
    if (is_assembler_option(arguments[i])) {
      out.push_back(arguments[i]);
      if (pair) out.push_back(arguments[i + 1]);
    }
    if (pair) ++i;
  }
  return out;
}

}  // namespace

std::optional<InlineSteps> assembly_steps(const std::vector<std::string>& compiler,
                                          const std::vector<std::string>& arguments,
                                          const std::string& hook_header) {
  const CommandLine line = parse_command_line(arguments);
  const bool calls =
      std::find(arguments.begin(), arguments.end(), "-fsanitize-coverage=trace-pc") != arguments.end();
  if (!calls || !is_one_compilation(line, arguments) || is_header(line.inputs[0].path) ||
      std::any_of(arguments.begin(), arguments.end(), disqualifies_assembly)) {
    return std::nullopt;
  }
  const std::string object = line.output.empty() ? object_name(line.inputs[0].path) : line.output;
  const Options options = divide(line, arguments);

  InlineSteps steps;
  steps.intermediate = object + ".simrt.s";
  steps.instrument = compiler;
  steps.instrument.emplace_back("-fipa-ra");  // in front: an option of the user's has the last word
  for (const std::string& o : options.step1) steps.instrument.push_back(o == "-c" ? "-S" : o);
  // Behind all else: a precompiled header has to be the first thing included.
  add(steps.instrument, {"-include", hook_header, "-o", steps.intermediate});
  add_dependency_names(options, object, steps.instrument);
  steps.generate = compiler;
  add(steps.generate, assembler_options(arguments));
  add(steps.generate, {"-c", steps.intermediate, "-o", object});
  return steps;
}

std::optional<InlineSteps> inline_steps(const std::vector<std::string>& compiler,
                                        const std::vector<std::string>& arguments,
                                        const std::string& hook_bitcode) {
  const CommandLine line = parse_command_line(arguments);
  if (!qualifies(line, arguments)) return std::nullopt;
  const std::string object = line.output.empty() ? object_name(line.inputs[0].path) : line.output;
  Options options = divide(line, arguments);

  InlineSteps steps;
  steps.intermediate = object + ".simrt.bc";
  steps.instrument = compiler;
  add(steps.instrument, options.step1);
  add(steps.instrument,
      {"-emit-llvm", "-Xclang", "-mlink-bitcode-file", "-Xclang", hook_bitcode, "-o", steps.intermediate});
  add_dependency_names(options, object, steps.instrument);
  steps.generate = compiler;
  add(steps.generate, options.step2);
  add(steps.generate,
      {"-Wno-unused-command-line-argument", "-x", "ir", steps.intermediate, "-c", "-o", object});
  return steps;
}

}  // namespace simrt::wrappers
