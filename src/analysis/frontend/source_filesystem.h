// clang's view of one revision: an llvm file system over a SourceView, with a working directory of its own.
#pragma once

#include <llvm/ADT/IntrusiveRefCntPtr.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <memory>
#include <string>
#include <unordered_set>

#include "analysis/frontend/source_view.h"

namespace simrt::analysis {

/// One a parse; the view behind it is shared. `directory` is the absolute working directory. `questions`
/// (optional; must outlive the file system) gets everything that is asked, as SourceView::answer() takes it.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> make_source_filesystem(
    std::shared_ptr<const SourceView> view, std::string directory,
    std::unordered_set<std::string>* questions = nullptr);

}  // namespace simrt::analysis
