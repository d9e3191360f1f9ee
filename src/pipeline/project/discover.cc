#include "pipeline/project/discover.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "pipeline/project/cmake_build.h"
#include "pipeline/project/instrumented.h"
#include "pipeline/project/meson_build.h"
#include "pipeline/project/text.h"
#include "support/files.h"

namespace simrt::project {
namespace {

namespace fs = std::filesystem;

constexpr int kSearchDepth = 4;
constexpr std::size_t kMaxDirectories = 5000;

std::vector<std::string> subdirectories(const std::string& path) {
  std::vector<std::string> result;
  std::error_code error;
  for (const auto& entry :
       fs::directory_iterator(path, fs::directory_options::skip_permission_denied, error)) {
    if (entry.is_symlink(error) || !entry.is_directory(error)) continue;
    result.push_back(entry.path());
  }
  std::sort(result.begin(), result.end());
  return result;
}

bool worth_descending(const std::string& path) {
  const std::string_view name = base_name(path);
  return name != ".git" && name != ".simrt" && name != "node_modules" && name != "CMakeFiles" &&
         name != "_deps" && name != ".venv";
}

class Search {
 public:
  Search(ProjectFindings& findings, std::string root) : findings_(findings), root_(std::move(root)) {}

  void run() {
    descend(root_, kSearchDepth);
    // Out-of-source builds beside the repository: ../build, ../project-build, ...
    const std::string parent = fs::path(root_).parent_path();
    const std::string name(base_name(root_));
    for (const std::string& sibling : subdirectories(parent)) {
      const std::string_view own = base_name(sibling);
      if (sibling == root_) continue;
      if (own.find("build") != std::string_view::npos || own.starts_with(name)) descend(sibling, 1);
    }
  }

 private:
  void descend(const std::string& directory, int depth) {
    if (visited_.size() >= kMaxDirectories || !visited_.insert(directory).second) return;
    if (is_file(directory + "/CMakeCache.txt")) {
      if (auto build = read_cmake_build(directory, root_)) findings_.builds.push_back(std::move(*build));
      if (directory != root_) return;
    } else if (is_directory(directory + "/meson-info")) {
      if (auto build = read_meson_build(directory, root_)) findings_.builds.push_back(std::move(*build));
      return;
    }
    if (depth == 0) return;
    for (const std::string& child : subdirectories(directory)) {
      if (worth_descending(child)) descend(child, depth - 1);
    }
  }

  ProjectFindings& findings_;
  std::string root_;
  std::set<std::string> visited_;
};

void find_systems(ProjectFindings& findings) {
  struct Mark {
    BuildSystem system;
    std::vector<const char*> files;
  };
  const std::vector<Mark> marks = {
      {BuildSystem::CMake, {"CMakeLists.txt"}},
      {BuildSystem::Meson, {"meson.build"}},
      {BuildSystem::Make, {"Makefile", "makefile", "GNUmakefile", "configure"}},
      {BuildSystem::Other, {"BUILD.bazel", "WORKSPACE", "MODULE.bazel", "SConstruct"}}};
  for (const Mark& mark : marks) {
    const bool present = std::any_of(mark.files.begin(), mark.files.end(),
                                     [&](const char* file) { return is_file(findings.root + "/" + file); });
    if (present) findings.systems.push_back(mark.system);
  }
  // The build of a repository whose code lies one level down (cpp/CMakeLists.txt) tells its source by itself.
  for (const BuildDirectory& build : findings.builds) {
    if (std::find(findings.systems.begin(), findings.systems.end(), build.system) == findings.systems.end()) {
      findings.systems.push_back(build.system);
    }
  }
}

void order_builds(std::vector<BuildDirectory>& builds) {
  auto key = [](const BuildDirectory& build) {
    return std::make_tuple(build.instrumented, build.compile_database.empty(), !build.has_tests,
                           build.path.size(), build.path);
  };
  std::sort(builds.begin(), builds.end(),
            [&](const BuildDirectory& a, const BuildDirectory& b) { return key(a) < key(b); });
}

void find_make_tests(ProjectFindings& findings) {
  for (const char* name : {"GNUmakefile", "makefile", "Makefile"}) {
    const std::string text = text_of(findings.root + "/" + name);
    for (std::string_view line : lines_of(text)) {
      for (const char* target : {"check", "test", "tests"}) {
        const std::string_view rest =
            line.starts_with(target) ? line.substr(std::string_view(target).size()) : "";
        auto& known = findings.make_tests;
        if (rest.starts_with(":") && !rest.starts_with(":=") &&
            std::find(known.begin(), known.end(), target) == known.end())
          known.emplace_back(target);
      }
    }
    if (!text.empty()) break;
  }
}

bool uses(const ProjectFindings& findings, BuildSystem system) {
  return std::find(findings.systems.begin(), findings.systems.end(), system) != findings.systems.end();
}

void find_compile_database(ProjectFindings& findings, const std::string& instrumented) {
  if (const BuildDirectory* build = findings.user_build())
    findings.compile_database = build->compile_database;
  for (const char* place : {"compile_commands.json", "build/compile_commands.json"}) {
    if (!findings.compile_database.empty()) return;
    const std::string path = findings.root + "/" + place;
    if (is_file(path)) findings.compile_database = path;
  }
  if (findings.compile_database.empty() && findings.instrumented_build() != nullptr) {
    findings.compile_database = findings.instrumented_build()->compile_database;
  }
  // Built by hand or by make: no cache of a build system says what the directory is.
  const std::string by_hand = instrumented + "/compile_commands.json";
  if (findings.compile_database.empty() && is_file(by_hand)) findings.compile_database = by_hand;
}

/// What the user types to get a compile database.
std::string database_command(const ProjectFindings& findings) {
  const BuildDirectory* build = findings.user_build();
  if (build != nullptr && build->system == BuildSystem::CMake) {
    return fmt::format("cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON {}", build->path);
  }
  if (uses(findings, BuildSystem::CMake)) return "cmake -S . -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON";
  if (uses(findings, BuildSystem::Meson)) return "meson setup build";
  return "apt-get install bear && bear -- make";
}

void find_missing(ProjectFindings& findings, const std::string& instrumented) {
  if (findings.systems.empty()) {
    findings.missing.push_back(
        {"a build system (CMakeLists.txt, meson.build, Makefile)",
         "run simrt in the root of the repository, or list test commands in .simrt.toml"});
  }
  if (findings.compile_database.empty()) {
    findings.missing.push_back({"a compile database (compile_commands.json)", database_command(findings)});
  }
  if (findings.instrumented_build() == nullptr && findings.instrumented_by_hand.empty()) {
    findings.missing.push_back({"an instrumented build", instrumented_build_command(findings, instrumented)});
  }
  const bool configured = !findings.builds.empty();
  const bool tests = std::any_of(findings.builds.begin(), findings.builds.end(),
                                 [](const BuildDirectory& build) { return build.has_tests; });
  if (configured && !tests && findings.make_tests.empty()) {
    const std::string text = text_of(findings.root + "/CMakeLists.txt");
    const bool option = calls_cmake_command(text, "enable_testing") ||
                        text.find("BUILD_TEST") != std::string::npos ||
                        text.find("include(CTest)") != std::string::npos;
    findings.missing.push_back(
        {"tests known to CTest or Meson",
         option
             ? "the project can build tests: configure with its option for them (see CMakeLists.txt), for "
               "example "
               "cmake -DBUILD_TESTING=ON build"
             : "add enable_testing() and add_test() to CMakeLists.txt, or [[tests.command]] to .simrt.toml"});
  }
}

}  // namespace

std::string_view name_of(BuildSystem system) {
  switch (system) {
    case BuildSystem::CMake:
      return "CMake";
    case BuildSystem::Meson:
      return "Meson";
    case BuildSystem::Make:
      return "make";
    case BuildSystem::Other:
      break;
  }
  return "another build system";
}

int Compiler::major() const {
  int value = 0;
  for (char c : version) {
    if (c < '0' || c > '9' || value > 100000) break;
    value = value * 10 + (c - '0');
  }
  return value;
}

bool Compiler::supported() const {
  if (family == CompilerFamily::Clang) return major() >= 14 && major() <= 19;
  return family == CompilerFamily::Gcc && major() == 12;
}

const BuildDirectory* ProjectFindings::user_build() const {
  auto it = std::find_if(builds.begin(), builds.end(),
                         [](const BuildDirectory& build) { return !build.instrumented; });
  return it == builds.end() ? nullptr : &*it;
}

const BuildDirectory* ProjectFindings::instrumented_build() const {
  auto it = std::find_if(builds.begin(), builds.end(),
                         [](const BuildDirectory& build) { return build.instrumented && !build.for_check; });
  return it == builds.end() ? nullptr : &*it;
}

const BuildDirectory* ProjectFindings::check_build() const {
  auto it =
      std::find_if(builds.begin(), builds.end(), [](const BuildDirectory& build) { return build.for_check; });
  return it == builds.end() ? nullptr : &*it;
}

std::string instrumented_build_command(const ProjectFindings& findings, const std::string& directory,
                                       bool for_check) {
  const BuildDirectory* user = findings.user_build();
  std::string source = ".";
  if (user != nullptr) {
    const std::string below = relative_to(user->source, canonical_path(findings.root)).value_or("");
    if (!below.empty()) source = below;
  }
  const std::string place = relative_to(directory, findings.root).value_or(directory);
  const bool gcc =
      user != nullptr && !user->compilers.empty() && user->compilers.back().family == CompilerFamily::Gcc;
  const BuildSystem system = user != nullptr             ? user->system
                             : !findings.systems.empty() ? findings.systems.front()
                                                         : BuildSystem::CMake;
  const std::string wrappers = gcc ? "CC=simrt-gcc CXX=simrt-g++" : "CC=simrt-clang CXX=simrt-clang++";
  const std::string variable = for_check ? "SIMRT_BUILD=check " : "";
  switch (system) {
    case BuildSystem::CMake:
      return fmt::format("cmake -S {} -B {} --toolchain \"$(simrt toolchain)\"{} && cmake --build {}", source,
                         place, for_check ? " -DSIMRT_BUILD=check -DCMAKE_BUILD_TYPE=Debug" : "", place);
    case BuildSystem::Meson:
      return fmt::format("{}{} meson setup {} {} && {}meson compile -C {}", variable, wrappers, place, source,
                         variable, place);
    case BuildSystem::Make:
    case BuildSystem::Other:
      break;
  }
  return fmt::format("git worktree add --detach {} && cd {} && {}make {}", place, place, variable, wrappers);
}

Result<ProjectFindings> discover_project(const std::string& root) {
  if (!is_directory(root)) return fail(ErrorCode::Project, root + " is not a directory");
  ProjectFindings findings;
  findings.root = absolute_path(root, fs::current_path());
  Search(findings, findings.root).run();
  order_builds(findings.builds);
  find_systems(findings);
  find_make_tests(findings);
  const std::string instrumented = config::default_config(findings.root).instrumented_directory;
  find_compile_database(findings, instrumented);
  if (findings.instrumented_build() == nullptr && !find_instrumented_binary(instrumented).empty())
    findings.instrumented_by_hand = instrumented;
  find_missing(findings, instrumented);
  return findings;
}

config::Config suggested_config(const ProjectFindings& findings, config::Config base) {
  auto silent = [&](const char* key) { return base.origins.count(key) == 0; };
  const BuildDirectory* user = findings.user_build();
  const BuildDirectory* instrumented = findings.instrumented_build();
  if (user != nullptr && silent("build.directory")) base.build_directory = user->path;
  if (instrumented != nullptr && silent("build.instrumented"))
    base.instrumented_directory = instrumented->path;
  const BuildDirectory* check = findings.check_build();
  if (check != nullptr && silent("build.check")) base.check_directory = check->path;
  const bool implied = user != nullptr && findings.compile_database == user->compile_database;
  const bool of_instrumented =
      instrumented != nullptr && findings.compile_database == instrumented->compile_database;
  const bool by_default = findings.compile_database == base.instrumented_directory + "/compile_commands.json";
  if (!findings.compile_database.empty() && !implied && !of_instrumented && !by_default &&
      silent("build.compile_commands")) {
    base.compile_database = findings.compile_database;
  }
  if (!findings.systems.empty()) {
    if (silent("tests.ctest")) base.ctest = uses(findings, BuildSystem::CMake);
    if (silent("tests.meson")) base.meson = uses(findings, BuildSystem::Meson);
  }
  const bool other_tests = base.ctest || base.meson || !base.commands.empty();
  for (const std::string& target : findings.make_tests) {
    if (!other_tests)
      base.commands.push_back({"make " + target, {"make", target}, base.instrumented_directory, 0, {}});
  }
  return base;
}

}  // namespace simrt::project
