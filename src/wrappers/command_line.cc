#include "wrappers/command_line.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace simrt::wrappers {
namespace {

bool is_runtime(const std::string& text) {
  return text.find("libsimrt_cover") != std::string::npos || text.find("libsimrt_check") != std::string::npos;
}

constexpr int kMaxResponseDepth = 8;

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

constexpr std::array<std::string_view, 50> kWithValue = {"-o",
                                                         "-x",
                                                         "-I",
                                                         "-L",
                                                         "-D",
                                                         "-U",
                                                         "-l",
                                                         "-T",
                                                         "-u",
                                                         "-z",
                                                         "-F",
                                                         "-A",
                                                         "-B",
                                                         "-G",
                                                         "-e",
                                                         "-h",
                                                         "-R",
                                                         "-include",
                                                         "-imacros",
                                                         "-isystem",
                                                         "-iquote",
                                                         "-idirafter",
                                                         "-iprefix",
                                                         "-iwithprefix",
                                                         "-iwithprefixbefore",
                                                         "-isysroot",
                                                         "-imultilib",
                                                         "-iframework",
                                                         "-include-pch",
                                                         "-MF",
                                                         "-MT",
                                                         "-MQ",
                                                         "-MJ",
                                                         "-Xclang",
                                                         "-Xlinker",
                                                         "-Xpreprocessor",
                                                         "-Xassembler",
                                                         "-Xarch_host",
                                                         "-Xanalyzer",
                                                         "-mllvm",
                                                         "-mthread-model",
                                                         "-target",
                                                         "--target",
                                                         "--param",
                                                         "-aux-info",
                                                         "-arch",
                                                         "-wrapper",
                                                         "-dumpbase",
                                                         "-dumpdir",
                                                         "-specs"};

constexpr std::array<std::string_view, 6> kNoCode = {"-E",           "-M",       "-MM", "-fsyntax-only",
                                                     "--preprocess", "--analyze"};

constexpr std::array<std::string_view, 12> kInformation = {
    "--version",  "--help",        "-###",  "-dumpmachine", "-dumpversion", "-dumpfullversion",
    "-dumpspecs", "--target-help", "-help", "-V",           "-qversion",    "--print-supported-cpus"};

constexpr std::array<std::string_view, 16> kCode = {".c",   ".i",   ".cc",  ".cp", ".cxx", ".cpp",
                                                    ".c++", ".C",   ".CPP", ".ii", ".ixx", ".cppm",
                                                    ".h",   ".hpp", ".hh",  ".hxx"};
constexpr std::array<std::string_view, 4> kAssembly = {".s", ".S", ".sx", ".asm"};
constexpr std::array<std::string_view, 10> kOther = {".m", ".mm", ".M",  ".cu", ".f90",
                                                     ".f", ".bc", ".ll", ".go", ".cl"};

Language language_of_file(const std::string& path) {
  if (path == "-") return Language::Other;
  const auto slash = path.rfind('/');
  const auto dot = path.rfind('.');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) return Language::Object;
  const std::string extension = path.substr(dot);
  if (contains(kCode, extension)) return Language::Code;
  if (contains(kAssembly, extension)) return Language::Assembly;
  if (contains(kOther, extension)) return Language::Other;
  return Language::Object;
}

Language language_of_name(std::string_view name) {
  if (starts_with(name, "assembler")) return Language::Assembly;
  if (starts_with(name, "c++") || name == "c" || starts_with(name, "c-") || starts_with(name, "cpp-")) {
    return Language::Code;
  }
  return Language::Other;
}

class Parser {
 public:
  CommandLine parse(const std::vector<std::string>& arguments) {
    line_.arguments = arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      position_ = i;
      take(arguments[i], 0);
    }
    line_.action = action();
    return std::move(line_);
  }

 private:
  void take(const std::string& argument, int depth) {
    if (!pending_.empty()) return value(argument);
    if (argument.size() > 1 && argument[0] == '@') return response_file(argument, depth);
    if (argument.empty() || argument[0] != '-' || argument == "-") return input(argument);
    option(argument);
  }

  void response_file(const std::string& argument, int depth) {
    std::ifstream file(argument.substr(1), std::ios::binary);
    if (!file || depth >= kMaxResponseDepth) return input(argument);
    line_.response_files = true;
    std::ostringstream text;
    text << file.rdbuf();
    for (const std::string& inner : split_response_file(text.str())) take(inner, depth + 1);
  }

  void input(const std::string& path) {
    const Language language = forced_ ? forced_language_ : language_of_file(path);
    if (is_runtime(path)) line_.linked_with_runtime = true;
    line_.inputs.push_back({path, language, position_});
  }

  void value(const std::string& argument) {
    if (pending_ == "-o") line_.output = argument;
    if (pending_ == "-x") force_language(argument);
    if (pending_ == "-target" || pending_ == "--target") line_.foreign_target = true;
    if (pending_ == "-l") has_library_ = true;
    if (pending_ == "-Xlinker") linker_option(argument);
    pending_.clear();
  }

  void option(const std::string& o) {
    if (takes_value(o)) {
      pending_ = o;
      return;
    }
    if (contains(kNoCode, o)) no_code_ = true;
    if (contains(kInformation, o) || starts_with(o, "-print-") || starts_with(o, "--print-"))
      information_ = true;
    if (o == "-c" || o == "-S" || o == "--compile" || o == "--assemble" || o == "--precompile")
      compile_ = true;
    if (o == "-shared" || o == "--shared") line_.shared = true;
    if (o == "-r" || o == "--relocatable") line_.relocatable = true;
    if (o == "-static" || o == "--static" || o == "-static-pie") line_.statically = true;
    if (o == "-m32" || o == "-mx32" || o == "-m16" || starts_with(o, "--target="))
      line_.foreign_target = true;
    if (starts_with(o, "-fsanitize=")) line_.user_sanitizer = true;
    if (starts_with(o, "-o")) line_.output = o.substr(2);
    if (starts_with(o, "-x")) force_language(o.substr(2));
    if (starts_with(o, "-l")) has_library_ = true;
    if (starts_with(o, "-g")) debug_option(o);
    if (starts_with(o, "-Wl,")) {
      std::istringstream parts(o.substr(4));
      for (std::string part; std::getline(parts, part, ',');) linker_option(part);
    }
  }

  void debug_option(const std::string& o) {
    // Lines alone do not say where a function was declared: nothing could be matched with it.
    static constexpr std::array<std::string_view, 7> kTooLittle = {
        "-g0", "-ggdb0", "-g1", "-ggdb1", "-gmlt", "-gline-tables-only", "-gline-directives-only"};
    if (std::find(kTooLittle.begin(), kTooLittle.end(), o) != kTooLittle.end()) {
      line_.debug_information = false;
    } else if (starts_with(o, "-gcc-toolchain") || starts_with(o, "-gz") || starts_with(o, "-gno-") ||
               o == "-grecord-gcc-switches") {
      return;  // refines, does not switch on
    } else {
      line_.debug_information = true;
    }
    line_.has_debug_option = true;
  }

  void linker_option(const std::string& o) {
    if (o == "-r" || o == "--relocatable") line_.relocatable = true;
    if (is_runtime(o)) line_.linked_with_runtime = true;
  }

  void force_language(const std::string& name) {
    forced_ = name != "none";
    forced_language_ = language_of_name(name);
    forced_header_ = name.size() > 7 && name.substr(name.size() - 7) == "-header";
  }

  Action action() const {
    if (information_) return Action::Information;
    if (no_code_) return Action::Preprocess;
    if (line_.inputs.empty() && !has_library_) return Action::Information;
    if (compile_) return Action::Compile;
    const bool sources = std::any_of(line_.inputs.begin(), line_.inputs.end(),
                                     [](const Input& i) { return i.language != Language::Object; });
    const bool header_only = !line_.inputs.empty() &&
                             std::all_of(line_.inputs.begin(), line_.inputs.end(), [this](const Input& i) {
                               return forced_ ? forced_header_ : is_header(i.path);
                             });
    if (header_only) return Action::Compile;  // makes a precompiled header
    return sources ? Action::CompileAndLink : Action::Link;
  }

  static bool is_header(const std::string& path) {
    static constexpr std::array<std::string_view, 4> kHeaders = {".h", ".hpp", ".hh", ".hxx"};
    const auto dot = path.rfind('.');
    return dot != std::string::npos && contains(kHeaders, std::string_view(path).substr(dot));
  }

  CommandLine line_;
  std::size_t position_ = 0;
  std::string pending_;  // an option that waits for its value
  bool forced_ = false;  // -x
  bool forced_header_ = false;
  Language forced_language_ = Language::Other;
  bool no_code_ = false, information_ = false, compile_ = false, has_library_ = false;
};

}  // namespace

bool takes_value(const std::string& option) { return contains(kWithValue, option); }

std::vector<std::string> split_response_file(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
    if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      open = true;
    } else if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      open = true;
    } else if (space) {
      if (open) words.push_back(word);
      word.clear();
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words.push_back(word);
  return words;
}

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  return Parser().parse(arguments);
}

}  // namespace simrt::wrappers
