// Where things are: the user's compiler, and the runtime's files beside this program. The only part of the
// wrapper that looks at the environment and the file system before the plan is made.
#pragma once

#include <string>
#include <vector>

#include "support/result.h"

namespace simrt::wrappers {

enum class Family { Clang, Gcc };
enum class CompilerLanguage { C, Cxx };

struct Compiler {
  std::vector<std::string> command;  ///< launcher, if any ("ccache"), then the compiler
  Family family = Family::Clang;
};

/// The runtime's files, in the build tree as well as after installation.
struct RuntimeFiles {
  std::string directory;  ///< has libsimrt_cover.a, libsimrt_rt.so, libsimrt_rt.a and hooks/inline.cc
};

/// $SIMRT_CXX or $SIMRT_CC (white space separates a launcher), else the first of `default_names` on $PATH.
/// Fails with Usage when there is none or when it is one of the wrappers.
Result<Compiler> find_compiler(CompilerLanguage language, Family default_family);

/// The compiler at the head of a full command, for use as a compiler launcher; `count` words of it are the
/// compiler.
Compiler compiler_of(const std::vector<std::string>& command, std::size_t& count);

/// Family by the program's name, else by what `--version` prints.
Family family_of(const std::string& program);

/// $SIMRT_LIB_DIR, else relative to the running program.
Result<RuntimeFiles> find_runtime();

/// First executable file of that name on $PATH, or the path itself when it has a slash; empty when none.
std::string find_program(const std::string& name);

}  // namespace simrt::wrappers
