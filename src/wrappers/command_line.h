// What a compiler command line asks for. Understands the option syntax that clang and gcc share, as far as a
// wrapper needs: which inputs are sources, what is produced, what must not be instrumented.
// Must not know what the wrapper adds (plan.h).
#pragma once

#include <string>
#include <vector>

namespace simrt::wrappers {

enum class Action {
  Information,  ///< --version, -print-*, -###, no input: nothing is built
  Preprocess,   ///< -E, -M, -MM, -fsyntax-only: no code is generated
  Compile,      ///< -c, -S
  Link,         ///< objects and libraries only
  CompileAndLink
};

enum class Language { Code, Assembly, Object, Other };  ///< Code: C or C++

struct Input {
  std::string path;
  Language language = Language::Object;
  std::size_t position = 0;  ///< in CommandLine::arguments; of the response file if it came from one
};

struct CommandLine {
  std::vector<std::string> arguments;  ///< as given, program excluded
  Action action = Action::Information;
  std::vector<Input> inputs;
  std::string output;  ///< of -o; empty when not given
  bool response_files = false;
  bool shared = false;             ///< -shared
  bool relocatable = false;        ///< -r: an object again, not a program
  bool statically = false;         ///< -static, -static-pie
  bool user_sanitizer = false;     ///< -fsanitize=...
  bool foreign_target = false;     ///< -m32, --target=...: the runtime has another architecture
  bool debug_information = false;  ///< the last -g option asks for more than lines
  bool has_debug_option = false;
  bool linked_with_runtime = false;  ///< the runtime is on the line already (toolchain file below a wrapper)
};

/// Never fails: what it does not know it takes for an option without a value.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

/// Link options that take away what program counters are looked up in.
bool strips_symbols(const std::string& argument);

/// Options whose value is the next argument ("-o", "-I", "-include", "-Xclang", ...).
bool takes_value(const std::string& option);

/// Splits text the way gcc reads @files: white space, quotes, backslash escapes.
std::vector<std::string> split_response_file(const std::string& text);

}  // namespace simrt::wrappers
