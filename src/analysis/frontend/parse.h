// One run of clang's parser or preprocessor over one unit: file system in, diagnostics and files out. Owns no
// state between runs; several may run at once.
#pragma once

#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>

#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "analysis/frontend/invocation.h"
#include "analysis/frontend/source_view.h"

namespace simrt::analysis {

struct RunReport {
  std::uint32_t errors = 0;
  std::vector<std::string> messages;  ///< the first few errors, "file:line:column: text"
  bool lacks_file = false;            ///< the first error is an #include of a file that does not exist
  bool crashed = false;
  std::unordered_set<std::string> questions;  ///< to the file system; see SourceView::answer()
};

/// Runs `action` in a thread with a deep stack. A crash of clang is one error with a message, not ours.
/// `during_error(location)` (optional) hears of each error that has a location.
RunReport run_action(
    std::shared_ptr<clang::CompilerInvocation> invocation, const UnitInvocation& unit,
    const std::shared_ptr<const SourceView>& view, clang::FrontendAction& action,
    const std::function<void(const clang::SourceManager&, clang::SourceLocation)>& during_error = {});

/// Repository files (and symlinks that led to them) among everything `sources` has read; sorted.
std::vector<std::string> repository_files(const clang::SourceManager& sources, const SourceView& view,
                                          const std::string& directory);

}  // namespace simrt::analysis
