// From one parsed translation unit to facts: functions, the points of their blocks, variables.
// The only door of this part; it must not know where the source came from (git, disk, memory) nor what
// the facts are for.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/facts.h"

namespace clang {
class ASTContext;
}
namespace llvm {
class StringRef;
}

namespace simrt::analysis {

struct ExtractOptions {
  /// Repository-relative path ('/' separated) of an absolute path, or nothing for files outside the
  /// repository.
  std::function<std::optional<std::string>(llvm::StringRef absolute_path)> repository_path;
  /// Main source, repository-relative. Qualifies what every program has one of (main).
  std::string unit_path;
  bool points = true;  ///< false: UnitFacts::points stays empty
  /// Repository files whose functions are wanted; null: all.
  const std::set<std::string>* only_files = nullptr;
};

/// Functions of the repository that were left out: their bodies were not parsed, or are not wanted.
struct SkippedFunctions {
  std::vector<FunctionId> ids;
  /// One of them is an instantiation for a local class or a lambda of a wanted file. Its id does not tell
  /// what the members of that are.
  bool for_local_type = false;
};

/// Fills `functions`, `points` (parallel to functions) and `variables` (ascending id) and `path`; the other
/// members belong to the caller. Functions stand in order of declaration, lambdas behind the function that
/// holds them. Equal sources give equal facts. Thread-safe for distinct ASTContexts; keeps no state.
/// `skipped` (optional) gets what the parse left out.
UnitFacts extract_unit(clang::ASTContext& context, const ExtractOptions& options,
                       SkippedFunctions* skipped = nullptr);

}  // namespace simrt::analysis
