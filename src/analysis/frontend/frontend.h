// Units of one revision to ASTs: which command, which files, which precompiled headers, one parse at a time
// or many. Knows nothing of facts; whoever wants some gets the AST in a callback.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/Lex/Preprocessor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/frontend/invocation.h"
#include "analysis/frontend/project_includes.h"
#include "analysis/frontend/source_view.h"
#include "analysis/frontend/system_headers.h"

namespace simrt::analysis {

struct ParseReport {
  std::uint32_t errors = 0;            ///< > 0: what the callback saw is incomplete, or it saw nothing at all
  std::vector<std::string> messages;   ///< the first few errors
  std::vector<std::string> files;      ///< repository files read: main source first, then sorted
  bool precompiled = false;            ///< made with precompiled system headers
  bool lacks_file = false;             ///< the first error is an #include of a file that does not exist
  std::vector<std::string> questions;  ///< what the file system was asked, sorted; see SourceView::answer()
};

/// A parsed unit; valid during the callback only.
struct ParsedUnit {
  clang::ASTContext& context;
  clang::Preprocessor& preprocessor;
  /// Top-level declarations that stand in repository files. They are also the context's traversal scope, so
  /// that RecursiveASTVisitor::TraverseAST(context) looks at nothing else.
  const std::vector<clang::Decl*>& declarations;
  /// Repository-relative path of a file by its name as clang has it (absolute, or relative to the working
  /// directory); nullopt outside the repository.
  std::function<std::optional<std::string>(llvm::StringRef)> repository_path;
};

/// Thread-safe but for prepare(): several threads may parse at once.
class Frontend {
 public:
  /// `cache_directory` is for precompiled headers; empty = parse without.
  Frontend(const std::string& repository_root, std::shared_ptr<const SourceTree> tree,
           const std::vector<std::string>& other_paths, std::string cache_directory);

  /// Gets precompiled headers ready for `commands`. Optional: parses are slower without, and yield the same.
  void prepare(const std::vector<CompileCommand>& commands, unsigned jobs);

  /// Parses one unit and calls `callback` at most once, in another thread, before parse() returns. Bodies of
  /// functions outside the repository are skipped, and those outside the files of `with_bodies` when it is
  /// given, but for bodies that declarations need (constexpr, deduced types). A unit that fails with
  /// precompiled headers is parsed without, unless what it lacks is a file: that depends on no precompiled
  /// header.
  ParseReport parse(const CompileCommand& command, const std::function<void(const ParsedUnit&)>& callback,
                    const std::set<std::string>* with_bodies = nullptr) const;

  /// Only the files (and errors) of a unit, by preprocessing.
  ParseReport closure(const CompileCommand& command) const;

  const SourceView& view() const { return *view_; }

 private:
  class DirectiveCache;

  ParseReport parse_once(const UnitInvocation& unit, const PrecompiledHeaders* headers,
                         const std::function<void(const ParsedUnit&)>& callback,
                         const std::set<std::string>* with_bodies) const;
  void finish(ParseReport& report, const CompileCommand& command) const;

  std::shared_ptr<SourceView> view_;
  std::unique_ptr<SystemHeaderStore> store_;
  std::shared_ptr<DirectiveCache> directives_;
  struct Preparation {
    UnitInvocation invocation;
    std::shared_ptr<const PrecompiledHeaders> headers;  ///< null when the unit must not use any
  };
  std::map<std::string, Preparation> prepared_;  ///< by CompileCommand::file; filled by prepare()
};

}  // namespace simrt::analysis
