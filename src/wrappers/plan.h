// What to run instead of the given compiler command. Pure: no environment, no file system.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wrappers/command_line.h"
#include "wrappers/toolset.h"

namespace simrt::wrappers {

/// Flags that instrument a compilation for recording, for the compiler wrapper and for the CMake toolchain
/// file. clang: every block, not pruned (mapping guards to source blocks needs them all). gcc: every block,
/// by call site; sibling calls are kept as calls because a hook that was jumped to would report its caller's
/// caller.
std::vector<std::string> instrumentation_flags(Family family);

/// Flags that put the runtime into a program or shared object. `wrapped` for -static, where functions cannot
/// be interposed at load time.
std::vector<std::string> runtime_link_flags(const RuntimeFiles& runtime, bool statically);

/// The command with everything added. Left alone: information, preprocessing, other targets, assembly.
std::vector<std::string> instrumented_command(const Compiler& compiler, const CommandLine& line,
                                              const RuntimeFiles& runtime);

/// A compilation in two steps, so that clang inlines the hook: (1) source to instrumented bitcode with the
/// hook linked in, (2) bitcode to object. Sanitizer passes run last in clang's pipeline, behind the inliner,
/// so one step cannot do it. Measured against one step: 1.1 instead of 2 to 4 times a plain build's time in
/// tight loops, with the same line-table rows a guard at -O0.
struct InlineSteps {
  std::vector<std::string> instrument;
  std::vector<std::string> generate;
  std::string intermediate;  ///< the file between the two; the caller removes it
};

/// The two steps for an already instrumented clang command, or nothing when it is not one plain `-c` of one C
/// or C++ source (or has options that act on code generation twice, such as -flto, -fsanitize=, -fprofile-*).
std::optional<InlineSteps> inline_steps(const std::vector<std::string>& compiler,
                                        const std::vector<std::string>& arguments,
                                        const std::string& hook_bitcode);

/// The same for an instrumented gcc command: (1) source to assembly, with the hook's declaration included
/// behind the user's own (`hook_header`, src/runtime/hooks/inline_gcc.h); the caller then puts the hook in
/// line (assembly.h); (2) assembly to object.
std::optional<InlineSteps> assembly_steps(const std::vector<std::string>& compiler,
                                          const std::vector<std::string>& arguments,
                                          const std::string& hook_header);

}  // namespace simrt::wrappers
