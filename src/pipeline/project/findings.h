// What a project looks like from outside: build systems, build directories, compilers, tests. Values only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simrt::project {

enum class BuildSystem : std::uint8_t { CMake, Meson, Make, Other };

std::string_view name_of(BuildSystem system);

enum class CompilerFamily : std::uint8_t { Clang, Gcc, Other };

struct Compiler {
  std::string language;  ///< "C" or "C++"
  std::string program;   ///< as the build system calls it
  CompilerFamily family = CompilerFamily::Other;
  std::string version;     ///< "19.1.7"; empty when the build directory does not say
  int major() const;       ///< 0 when unknown
  bool supported() const;  ///< clang 14-19, gcc 12
};

/// A configured build of this repository's sources.
struct BuildDirectory {
  std::string path;  ///< absolute
  BuildSystem system = BuildSystem::CMake;
  std::string source;            ///< absolute: the root, or a directory below it
  std::string build_type;        ///< empty when none was chosen
  bool instrumented = false;     ///< configured with the simrt wrappers, for recording or for checking
  bool for_check = false;        ///< instrumented for simrt check
  std::string compile_database;  ///< path of compile_commands.json; empty when there is none
  bool has_tests = false;        ///< CTest or Meson has something to run here
  std::vector<Compiler> compilers;
};

/// Something that is not there, and how to get it.
struct Missing {
  std::string what;
  std::string hint;  ///< the exact command or line
};

struct ProjectFindings {
  std::string root;  ///< absolute
  std::vector<BuildSystem>
      systems;  ///< with a definition in the root (or a directory just below), best known first
  std::vector<BuildDirectory>
      builds;  ///< the user's before instrumented ones; then with database, with tests, by path
  std::string instrumented_by_hand;     ///< a build for recording that no build system's cache describes
  std::string compile_database;         ///< the user's best one; for make and scripts also one in the root
  std::vector<std::string> make_tests;  ///< targets of a Makefile that look like tests ("check", "test")
  std::vector<Missing> missing;

  const BuildDirectory* user_build() const;          ///< null when there is none
  const BuildDirectory* instrumented_build() const;  ///< for recording; null when there is none
  const BuildDirectory* check_build() const;         ///< null when there is none
};

}  // namespace simrt::project
