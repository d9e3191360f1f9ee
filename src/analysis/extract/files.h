// Source locations as repository files and points. Macro locations count as where the macro is expanded.
#pragma once

#include <clang/Basic/SourceManager.h>

#include <map>
#include <string>

#include "analysis/extract/extract.h"
#include "model/facts.h"

namespace simrt::analysis {

class Files {
 public:
  Files(const clang::SourceManager& sources, const ExtractOptions& options)
      : sources_(sources), options_(options) {}

  /// Repository-relative path of the file at `location`; empty outside the repository.
  const std::string& path(clang::SourceLocation location);
  bool in_repository(clang::SourceLocation location) { return !path(location).empty(); }
  /// Line and column of the expansion; line 0 for invalid locations.
  SourcePoint point(clang::SourceLocation location) const;
  const clang::SourceManager& sources() const { return sources_; }

 private:
  const clang::SourceManager& sources_;
  const ExtractOptions& options_;
  clang::FileID last_;
  const std::string* last_path_ = nullptr;      ///< path of last_: neighbours mostly share a file
  std::map<clang::FileID, std::string> paths_;  // node-based: path() hands out references
};

}  // namespace simrt::analysis
