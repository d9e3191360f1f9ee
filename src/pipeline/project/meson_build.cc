#include "pipeline/project/meson_build.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pipeline/project/instrumented.h"
#include "pipeline/project/text.h"
#include "support/files.h"

namespace simrt::project {
namespace {

using Json = nlohmann::json;

/// A file of meson-info; discarded (neither array nor object) when it is missing or damaged.
Json info(const std::string& path, const std::string& name) {
  return Json::parse(text_of(path + "/meson-info/" + name), nullptr, /*allow_exceptions=*/false);
}

std::string text_at(const Json& node, const std::string& key) {
  const auto found = node.is_object() ? node.find(key) : node.end();
  return node.is_object() && found != node.end() && found->is_string() ? found->get<std::string>()
                                                                       : std::string();
}

/// "C++ compiler for the host machine: clang++-19 (clang 19.1.7 "Debian clang version 19.1.7")"
std::optional<Compiler> compiler_of(std::string_view line) {
  constexpr std::string_view kMiddle = " compiler for the host machine: ";
  const auto middle = line.find(kMiddle);
  const auto open = line.rfind(" (", line.find(" \""));
  if (middle == std::string_view::npos || open == std::string_view::npos || open < middle)
    return std::nullopt;
  Compiler compiler;
  compiler.language = line.substr(0, middle);
  if (compiler.language != "C" && compiler.language != "C++") return std::nullopt;
  compiler.program = line.substr(middle + kMiddle.size(), open - middle - kMiddle.size());
  // A launcher may stand in front: "ccache c++".
  compiler.program = compiler.program.substr(compiler.program.rfind(' ') + 1);
  std::string_view rest = line.substr(open + 2);
  const std::string_view id = rest.substr(0, rest.find(' '));
  if (id == "clang") compiler.family = CompilerFamily::Clang;
  if (id == "gcc") compiler.family = CompilerFamily::Gcc;
  if (id.size() < rest.size()) {
    rest.remove_prefix(id.size() + 1);
    compiler.version = rest.substr(0, rest.find_first_of(" )"));
  }
  return compiler;
}

}  // namespace

std::optional<BuildDirectory> read_meson_build(const std::string& path, const std::string& root) {
  const Json meson = info(path, "meson-info.json");
  if (!meson.is_object() || !meson.contains("directories")) return std::nullopt;
  const std::string source = canonical_path(text_at(meson["directories"], "source"));
  if (text_at(meson["directories"], "source").empty() || !relative_to(source, canonical_path(root))) {
    return std::nullopt;
  }
  BuildDirectory build;
  build.path = path;
  build.system = BuildSystem::Meson;
  build.source = source;
  const std::string log = text_of(path + "/meson-logs/meson-log.txt");
  for (std::string_view line : lines_of(log)) {
    if (auto compiler = compiler_of(line)) build.compilers.push_back(std::move(*compiler));
  }
  build.instrumented =
      std::any_of(build.compilers.begin(), build.compilers.end(),
                  [](const Compiler& compiler) { return is_simrt_wrapper(compiler.program); });
  const Json options = info(path, "intro-buildoptions.json");
  if (options.is_array()) {
    for (const Json& option : options) {
      if (text_at(option, "name") == "buildtype") build.build_type = text_at(option, "value");
    }
  }
  const Json tests = info(path, "intro-tests.json");
  build.has_tests = tests.is_array() && !tests.empty();
  if (is_file(path + "/compile_commands.json")) build.compile_database = path + "/compile_commands.json";
  return build;
}

}  // namespace simrt::project
