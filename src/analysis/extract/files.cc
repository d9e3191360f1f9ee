#include "analysis/extract/files.h"

#include <clang/Basic/FileManager.h>
#include <llvm/Support/Path.h>

namespace simrt::analysis {

const std::string& Files::path(clang::SourceLocation location) {
  static const std::string kOutside;
  if (location.isInvalid()) return kOutside;
  const clang::FileID file = sources_.getFileID(sources_.getExpansionLoc(location));
  if (last_path_ && file == last_) return *last_path_;
  last_ = file;
  const auto known = paths_.find(file);
  if (known != paths_.end()) return *(last_path_ = &known->second);
  std::string result;
  if (const clang::OptionalFileEntryRef entry = sources_.getFileEntryRefForID(file)) {
    llvm::SmallString<256> absolute(entry->getName());
    sources_.getFileManager().makeAbsolutePath(absolute);
    if (auto path = options_.repository_path(absolute)) result = std::move(*path);
  }
  return *(last_path_ = &paths_.try_emplace(file, std::move(result)).first->second);
}

SourcePoint Files::point(clang::SourceLocation location) const {
  if (location.isInvalid()) return {};
  const clang::SourceLocation expansion = sources_.getExpansionLoc(location);
  const auto [file, offset] = sources_.getDecomposedLoc(expansion);
  bool invalid = false;
  const unsigned line = sources_.getLineNumber(file, offset, &invalid);
  if (invalid) return {};
  const unsigned column = sources_.getColumnNumber(file, offset, &invalid);
  return invalid ? SourcePoint{} : SourcePoint{line, column};
}

}  // namespace simrt::analysis
