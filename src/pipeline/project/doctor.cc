#include "pipeline/project/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "config/glob.h"
#include "pipeline/project/cmake_build.h"
#include "pipeline/project/discover.h"
#include "pipeline/project/instrumented.h"
#include "pipeline/project/meson_build.h"
#include "pipeline/project/text.h"
#include "support/files.h"
#include "support/subprocess.h"

namespace simrt::project {
namespace {

class Doctor {
 public:
  Doctor(const std::string& root, const config::Config& config) : root_(root), config_(config) {
    if (auto found = discover_project(root)) findings_ = std::move(*found);
    instrumented_ = build_at(config_.instrumented_directory);
    user_ =
        config_.build_directory.empty() ? copy_of(findings_.user_build()) : build_at(config_.build_directory);
  }

  std::vector<Check> run() {
    check_repository();
    check_configuration();
    check_build_system();
    check_compile_database();
    check_compiler();
    check_instrumented_build();
    check_instrumented_binaries();
    check_check_build();
    check_tests();
    check_tools();
    check_history();
    check_ignored();
    return std::move(checks_);
  }

 private:
  static std::optional<BuildDirectory> copy_of(const BuildDirectory* build) {
    return build == nullptr ? std::nullopt : std::optional(*build);
  }

  std::optional<BuildDirectory> build_at(const std::string& path) const {
    auto build = read_cmake_build(path, root_);
    return build ? build : read_meson_build(path, root_);
  }

  std::string shown(const std::string& path) const {
    const auto below = relative_to(path, root_);
    return below && !below->empty() ? *below : path;
  }

  void good(std::string name, std::string detail) {
    checks_.push_back({std::move(name), true, std::move(detail), {}});
  }
  void bad(std::string name, std::string detail, std::string hint) {
    checks_.push_back({std::move(name), false, std::move(detail), std::move(hint)});
  }

  void check_repository() {
    const std::string git = root_ + "/.git";
    if (!is_directory(git) && !is_file(git)) {
      return bad("git repository", root_ + " has no .git",
                 "git init && git add . && git commit -m \"first\"");
    }
    if (is_file(git + "/shallow")) {
      return bad("git repository", "a shallow clone: recorded revisions may lie beyond its edge",
                 "git fetch --unshallow");
    }
    good("git repository", root_);
  }

  void check_configuration() {
    if (config_.file.empty())
      return bad("configuration", "no .simrt.toml; the defaults are used", "simrt init");
    good("configuration", shown(config_.file));
  }

  void check_build_system() {
    if (findings_.systems.empty()) {
      const bool commands = !config_.commands.empty();
      if (commands) return good("build system", "none known; tests are commands");
      return bad("build system", "neither CMakeLists.txt nor meson.build nor a Makefile",
                 "run simrt in the root of the repository, or list [[tests.command]] in .simrt.toml");
    }
    std::vector<std::string_view> names;
    for (BuildSystem system : findings_.systems) names.push_back(name_of(system));
    good("build system", fmt::format("{}", fmt::join(names, ", ")));
  }

  std::string compile_database() const {
    if (!config_.compile_database.empty()) return config_.compile_database;
    if (instrumented_ && !instrumented_->compile_database.empty()) return instrumented_->compile_database;
    const std::string by_hand = config_.instrumented_directory + "/compile_commands.json";
    if (is_file(by_hand)) return by_hand;
    if (user_ && !user_->compile_database.empty()) return user_->compile_database;
    return findings_.compile_database;
  }

  void check_compile_database() {
    const std::string path = compile_database();
    std::string hint = "cmake -S . -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON";
    for (const Missing& missing : findings_.missing) {
      if (missing.what.find("compile database") != std::string::npos) hint = missing.hint;
    }
    if (path.empty()) return bad("compile database", "no compile_commands.json", hint);
    const std::string text = text_of(path, 1u << 30);
    if (text.empty()) return bad("compile database", shown(path) + " cannot be read or is empty", hint);
    if (text.find("\"file\"") == std::string::npos) {
      return bad("compile database", shown(path) + " names no source", hint);
    }
    good("compile database", shown(path));
  }

  void check_compiler() {
    const BuildDirectory* build = user_ ? &*user_ : instrumented_ ? &*instrumented_ : nullptr;
    if (build == nullptr || build->compilers.empty()) {
      return bad("compiler", "unknown: no configured build directory says which one is used",
                 "configure the project once; clang 14-19 and gcc 12 are supported");
    }
    std::vector<std::string> texts;
    bool supported = true;
    for (const Compiler& compiler : build->compilers) {
      texts.push_back(fmt::format("{}: {} {}", compiler.language, compiler.program, compiler.version));
      supported = supported && compiler.supported();
    }
    const std::string text = fmt::format("{}", fmt::join(texts, ", "));
    if (supported) return good("compiler", text);
    bad("compiler", text + "; not one of clang 14-19, gcc 12",
        "apt-get install clang-19, then configure with the simrt toolchain (it brings its compiler)");
  }

  void check_instrumented_build() {
    const std::string command = instrumented_build_command(findings_, config_.instrumented_directory);
    const std::string place = shown(config_.instrumented_directory);
    if (!is_directory(config_.instrumented_directory)) {
      std::string hint = command;
      if (const BuildDirectory* other = findings_.instrumented_build()) {
        hint = fmt::format("set build.instrumented = \"{}\" in .simrt.toml, or: {}", shown(other->path),
                           command);
      }
      return bad("instrumented build", place + " does not exist", hint);
    }
    if (!instrumented_) {
      if (!find_instrumented_binary(config_.instrumented_directory).empty()) {
        return good("instrumented build", place + " (neither CMake nor Meson)");
      }
      return bad("instrumented build", place + " is no configured build of this repository", command);
    }
    if (!instrumented_->instrumented) {
      return bad("instrumented build", place + " was configured with an ordinary compiler",
                 fmt::format("rm -r {} && {}", place, command));
    }
    good("instrumented build", place);
  }

  void check_instrumented_binaries() {
    const std::string binary = find_instrumented_binary(config_.instrumented_directory);
    if (!binary.empty()) return good("instrumented programs", shown(binary) + " and maybe more");
    const std::string place = shown(config_.instrumented_directory);
    const bool meson = instrumented_ && instrumented_->system == BuildSystem::Meson;
    bad("instrumented programs", "no program in " + place + " carries coverage instrumentation",
        meson ? "meson compile -C " + place : "cmake --build " + place);
  }

  /// Selecting does without one: it is no fault to have none.
  void check_check_build() {
    const std::string command = instrumented_build_command(findings_, config_.check_directory, true);
    const std::string place = shown(config_.check_directory);
    if (!is_directory(config_.check_directory))
      return good("check build", fmt::format("none; simrt check needs one: {}", command));
    const auto build = build_at(config_.check_directory);
    if (build && build->for_check) return good("check build", place);
    if (find_check_binary(config_.check_directory).empty())
      return bad("check build", place + " is no build for simrt check", command);
    good("check build", place);
  }

  void check_tests() {
    std::vector<std::string> sources;
    if (config_.ctest && ctest_has_tests(config_.instrumented_directory)) sources.emplace_back("CTest");
    if (config_.meson && instrumented_ && instrumented_->system == BuildSystem::Meson &&
        instrumented_->has_tests) {
      sources.emplace_back("Meson");
    }
    if (!config_.commands.empty())
      sources.push_back(fmt::format("{} commands of .simrt.toml", config_.commands.size()));
    if (!sources.empty()) return good("tests", fmt::format("{}", fmt::join(sources, ", ")));
    bad("tests",
        fmt::format("neither CTest nor Meson knows a test in {}", shown(config_.instrumented_directory)),
        "configure the instrumented build with the project's option for tests (often -DBUILD_TESTING=ON), or "
        "list "
        "[[tests.command]] in .simrt.toml");
  }

  void check_tools() {
    const char* path = std::getenv("PATH");
    auto present = [&](const char* program) {
      return !find_program(program, root_, path == nullptr ? "" : path).empty();
    };
    struct Tool {
      const char* program;
      bool needed;
      const char* package;
    };
    const bool meson = config_.meson && instrumented_ && instrumented_->system == BuildSystem::Meson;
    for (const Tool& tool :
         {Tool{"git", true, "git"},
          Tool{"ctest", config_.ctest && is_file(config_.instrumented_directory + "/CTestTestfile.cmake"),
               "cmake"},
          Tool{"meson", meson, "meson"}}) {
      if (!tool.needed || present(tool.program)) continue;
      bad(tool.program, fmt::format("{} is not on the PATH", tool.program),
          fmt::format("apt-get install {}", tool.package));
    }
  }

  void check_history() {
    const std::string& path = config_.history_database;
    if (is_file(path)) {
      if (access(path.c_str(), R_OK) == 0) return good("history", shown(path));
      return bad("history", shown(path) + " is not readable", "chmod u+rw " + path);
    }
    bad("history", shown(path) + " does not exist yet", "simrt record");
  }

  /// The database, the cache and the instrumented tree lie in the work tree and should not be committed.
  void check_ignored() {
    std::vector<std::string> wanted;
    for (const std::string& path :
         {std::string(std::filesystem::path(config_.history_database).parent_path()),
          config_.instrumented_directory, config_.check_directory}) {
      if (path == config_.check_directory && !is_directory(path)) continue;
      const auto below = relative_to(path, root_);
      if (below && !below->empty()) wanted.push_back("/" + *below + "/");
    }
    const std::string rules = text_of(root_ + "/.gitignore") + "\n" + text_of(root_ + "/.git/info/exclude");
    std::erase_if(wanted, [&](const std::string& entry) { return ignores(rules, entry); });
    if (wanted.empty()) return good("git ignore rules", "generated files are not offered for committing");
    bad("git ignore rules", fmt::format("{} would be offered for committing", fmt::join(wanted, ", ")),
        fmt::format("printf '%s\\n' {} >> .gitignore", fmt::join(wanted, " ")));
  }

  static bool ignores(std::string_view rules, const std::string& entry) {
    const std::string path = entry.substr(1, entry.size() - 2);
    for (std::string_view line : lines_of(rules)) {
      if (line.empty() || line.front() == '#' || line.front() == '!') continue;
      std::string pattern(line);
      if (pattern.back() == '/') pattern.pop_back();
      if (pattern.ends_with("/*")) pattern.resize(pattern.size() - 2);
      if (config::any_glob_match({pattern}, path)) return true;
    }
    return false;
  }

  std::string root_;
  const config::Config& config_;
  ProjectFindings findings_;
  std::optional<BuildDirectory> user_;
  std::optional<BuildDirectory> instrumented_;
  std::vector<Check> checks_;
};

}  // namespace

std::vector<Check> doctor_checks(const std::string& root, const config::Config& config) {
  return Doctor(root, config).run();
}

}  // namespace simrt::project
