// What a unit's own sources include and define, read from their text without preprocessing: every branch of
// every #if counts. It decides what goes into a precompiled header and who may use it, never what a unit's
// facts are.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/frontend/invocation.h"
#include "analysis/frontend/source_view.h"

namespace simrt::analysis {

struct ProjectIncludes {
  std::set<std::string> system_headers;  ///< names in <> that lead outside the project
  std::set<std::string> macros;  ///< defined or undefined somewhere in the project's files; no include guards
};

/// Thread-safe; remembers each file, so that a header is read once and not once a unit.
class ProjectIncludeScanner {
 public:
  explicit ProjectIncludeScanner(std::shared_ptr<const SourceView> view) : view_(std::move(view)) {}

  ProjectIncludes scan(const UnitInvocation& unit);

 private:
  struct Include {
    std::string name;
    bool angled = false;
  };
  struct File {
    std::vector<Include> includes;
    std::vector<std::string> macros;
  };
  std::shared_ptr<const File> read(const Route& route);
  static File parse(llvm::StringRef text);

  std::shared_ptr<const SourceView> view_;
  std::shared_mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const File>> files_;
};

}  // namespace simrt::analysis
