#include "analysis/frontend/command_line.h"

#include <algorithm>
#include <array>
#include <optional>

namespace simrt::analysis {

namespace {

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

template <std::size_t N>
bool starts_with_one_of(std::string_view text, const std::array<std::string_view, N>& list) {
  return std::any_of(list.begin(), list.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

constexpr std::array<std::string_view, 6> kLaunchers{"ccache", "sccache",    "distcc",
                                                     "icecc",  "buildcache", "env"};

// Flags followed by a value of their own; both go. -o, -MF and the like may also be joined with their value.
constexpr std::array<std::string_view, 14> kDroppedWithValue{"-o",
                                                             "-MF",
                                                             "-MT",
                                                             "-MQ",
                                                             "-MJ",
                                                             "-include-pch",
                                                             "-mllvm",
                                                             "-Xlinker",
                                                             "-z",
                                                             "-L",
                                                             "-T",
                                                             "--param",
                                                             "--serialize-diagnostics",
                                                             "-index-store-path"};

constexpr std::array<std::string_view, 17> kDropped{"-c",   "-S",  "-E",  "-M",         "-MM",      "-MD",
                                                    "-MMD", "-MP", "-MG", "-MV",        "-pipe",    "-v",
                                                    "-###", "-w",  "-pg", "--coverage", "-coverage"};

// -O stays: it defines __OPTIMIZE__, and the optimised code is what was recorded.
constexpr std::array<std::string_view, 35> kDroppedPrefixes{"-o",
                                                            "-MF",
                                                            "-MT",
                                                            "-MQ",
                                                            "-W",
                                                            "-g",
                                                            "-L",
                                                            "-l",
                                                            "-fsanitize",
                                                            "-fno-sanitize",
                                                            "-fprofile",
                                                            "-fno-profile",
                                                            "-fcoverage",
                                                            "-ftest-coverage",
                                                            "-fxray",
                                                            "-fdiagnostics",
                                                            "-fno-diagnostics",
                                                            "-fcolor-",
                                                            "-fmodule",
                                                            "-fprebuilt-",
                                                            "-fcxx-modules",
                                                            "-fdebug-",
                                                            "-ffile-prefix-map",
                                                            "-fmacro-prefix-map",
                                                            "-frandom-seed",
                                                            "-flto",
                                                            "-fno-lto",
                                                            "-fuse-ld",
                                                            "-save-temps",
                                                            "-ftime-",
                                                            "-fpch-",
                                                            "-fplugin",
                                                            "-fpass-plugin",
                                                            "-fdump-",
                                                            "-ferror-limit"};

// cc1 options behind -Xclang whose value, behind another -Xclang, must go with them.
constexpr std::array<std::string_view, 6> kDroppedCc1WithValue{"-include-pch", "-load",  "-add-plugin",
                                                               "-plugin",      "-mllvm", "-main-file-name"};

class FlagFilter {
 public:
  explicit FlagFilter(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  std::vector<std::string> run() {
    for (index_ = 0; index_ < arguments_.size(); ++index_) take(arguments_[index_]);
    return std::move(kept_);
  }

 private:
  void take(const std::string& flag) {
    if (flag == "-Xclang") return take_cc1();
    if (flag.starts_with("-Wp,")) return take_preprocessor(flag.substr(4));
    if (is_one_of(flag, kDroppedWithValue)) {
      ++index_;
      return;
    }
    if (is_one_of(flag, kDropped)) return;
    if (flag.starts_with("@")) return;  // a response file that was not there to be expanded
    if (starts_with_one_of(flag, kDroppedPrefixes)) return;
    kept_.push_back(flag);
  }

  std::optional<std::string> cc1_option_at(std::size_t index) const {
    if (index + 1 >= arguments_.size() || arguments_[index] != "-Xclang") return std::nullopt;
    return arguments_[index + 1];
  }

  void take_cc1() {
    const auto option = cc1_option_at(index_);
    ++index_;
    if (!option) return;
    if (is_one_of(*option, kDroppedCc1WithValue)) {
      if (cc1_option_at(index_ + 1)) index_ += 2;
      return;
    }
    if (option->starts_with("-plugin-arg") || option->starts_with("-fpch-") ||
        option->starts_with("-emit-") || option->starts_with("-fsanitize") || option->starts_with("-debug")) {
      return;
    }
    kept_.emplace_back("-Xclang");
    kept_.push_back(*option);
  }

  // -Wp,-D_FORTIFY_SOURCE=2,-MD,deps.d: macros and include paths matter, the rest is output.
  void take_preprocessor(const std::string& list) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      const std::string flag = list.substr(begin, end - begin);
      if (flag.starts_with("-D") || flag.starts_with("-U") || flag.starts_with("-I")) kept_.push_back(flag);
      begin = end + 1;
    }
  }

  const std::vector<std::string>& arguments_;
  std::size_t index_ = 0;
  std::vector<std::string> kept_;
};

}  // namespace

std::vector<std::string> without_launcher(std::vector<std::string> arguments) {
  while (arguments.size() > 1 && is_one_of(base_name(arguments[0]), kLaunchers)) {
    arguments.erase(arguments.begin());
    while (arguments.size() > 1 && arguments[0].find('=') != std::string::npos)
      arguments.erase(arguments.begin());
  }
  return arguments;
}

bool is_cxx_driver(std::string_view program) {
  return base_name(program).find("++") != std::string_view::npos;
}

std::vector<std::string> parsing_flags(const std::vector<std::string>& arguments) {
  return FlagFilter(arguments).run();
}

}  // namespace simrt::analysis
