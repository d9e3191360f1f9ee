// From a build's command line to the arguments of clang's own parser (cc1), by clang's driver.
#pragma once

#include <clang/Frontend/CompilerInvocation.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/frontend/compile_commands.h"
#include "analysis/frontend/source_view.h"
#include "support/result.h"

namespace simrt::analysis {

/// How to parse one source. Units with equal `flags` and `directory` differ in the source only.
struct UnitInvocation {
  std::string source;              ///< absolute path
  std::string directory;           ///< absolute working directory
  std::vector<std::string> flags;  ///< cc1 arguments without the source and what follows from its name
  /// Hash of flags, directory and clang's version: units of one group can share a precompiled header.
  std::uint64_t group = 0;
  std::vector<std::string> questions;  ///< what the driver asked the file system; see SourceView::answer()
};

/// Runs the driver on `command`. Options that only gcc knows are ignored.
/// Errors (Analysis): the command leads to no compilation.
Result<UnitInvocation> make_invocation(const CompileCommand& command,
                                       const std::shared_ptr<const SourceView>& view);

/// An invocation that parses `unit`, with everything set up for reading facts: bodies skipped unless the
/// consumer objects, no warnings, no spell checking, no output, no plugins. Null when clang refuses the
/// flags.
std::shared_ptr<clang::CompilerInvocation> make_compiler_invocation(const UnitInvocation& unit);

}  // namespace simrt::analysis
