#include "analysis/frontend/frontend.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/DeclBase.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Lex/DependencyDirectivesScanner.h>
#include <clang/Lex/PreprocessorOptions.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "analysis/frontend/parse.h"
#include "support/task_pool.h"

namespace simrt::analysis {

namespace {

// "/abs/name" or a name relative to the working directory, as clang spells files.
std::string absolute_path(llvm::StringRef name, const std::string& directory) {
  return name.starts_with("/") ? name.str() : directory + "/" + name.str();
}

// Remembers by file id which files are the repository's; one instance a parse, as file ids mean nothing
// beyond it.
class RepositoryFiles {
 public:
  RepositoryFiles(const SourceView& view, const std::string& directory)
      : view_(view), directory_(directory) {}

  bool contains(const clang::SourceManager& sources, clang::SourceLocation location) {
    return path(sources, location) != nullptr;
  }

  /// Of the file where `location` is expanded; null outside the repository.
  const std::string* path(const clang::SourceManager& sources, clang::SourceLocation location) {
    const clang::FileID file = sources.getFileID(sources.getExpansionLoc(location));
    if (file.isInvalid()) return nullptr;  // of Clang's own declarations; no key of the map either
    const auto [known, inserted] = known_.try_emplace(file);
    if (inserted) {
      if (const auto entry = sources.getFileEntryRefForID(file))
        known->second = view_.repository_path(absolute_path(entry->getName(), directory_));
    }
    return known->second ? &*known->second : nullptr;
  }

 private:
  const SourceView& view_;
  const std::string& directory_;
  llvm::DenseMap<clang::FileID, std::optional<std::string>> known_;
};

struct ParseRequest {
  const SourceView& view;
  const UnitInvocation& unit;
  bool precompiled = false;
  const std::function<void(const ParsedUnit&)>& callback;
  const std::set<std::string>* with_bodies = nullptr;  ///< null: every file of the repository
  std::vector<std::string> files;
};

class UnitConsumer final : public clang::ASTConsumer {
 public:
  UnitConsumer(clang::CompilerInstance& instance, ParseRequest& request)
      : instance_(instance), request_(request), repository_(request.view, request.unit.directory) {}

  bool shouldSkipFunctionBody(clang::Decl* declaration) override {
    const std::string* path = repository_.path(instance_.getSourceManager(), declaration->getLocation());
    return !path || (request_.with_bodies && !request_.with_bodies->contains(*path));
  }

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* declaration : group) {
      // Instantiations are reported here too, but belong to their template.
      if (declaration->getLexicalDeclContext()->isTranslationUnit() && !is_instantiation(*declaration) &&
          repository_.contains(instance_.getSourceManager(), declaration->getLocation())) {
        declarations_.push_back(declaration);
      }
    }
    return true;
  }

  void HandleTranslationUnit(clang::ASTContext& context) override {
    // With precompiled headers an error may be their fault; the caller parses again without.
    if (request_.precompiled && context.getDiagnostics().hasErrorOccurred()) return;
    context.setTraversalScope(declarations_);
    const std::string& directory = request_.unit.directory;
    request_.callback({context, instance_.getPreprocessor(), declarations_, [&](llvm::StringRef name) {
                         return request_.view.repository_path(absolute_path(name, directory));
                       }});
  }

 private:
  static bool is_instantiation(const clang::Decl& declaration) {
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(&declaration)) {
      return clang::isTemplateInstantiation(function->getTemplateSpecializationKind());
    }
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(&declaration)) {
      return clang::isTemplateInstantiation(variable->getTemplateSpecializationKind());
    }
    return false;
  }

  clang::CompilerInstance& instance_;
  ParseRequest& request_;
  RepositoryFiles repository_;
  std::vector<clang::Decl*> declarations_;
};

class UnitAction final : public clang::ASTFrontendAction {
 public:
  explicit UnitAction(ParseRequest& request) : request_(request) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance,
                                                        llvm::StringRef) override {
    return std::make_unique<UnitConsumer>(instance, request_);
  }
  void EndSourceFileAction() override {
    request_.files =
        repository_files(getCompilerInstance().getSourceManager(), request_.view, request_.unit.directory);
  }

 private:
  ParseRequest& request_;
};

class ClosureAction final : public clang::PreprocessOnlyAction {
 public:
  ClosureAction(const SourceView& view, const std::string& directory) : view_(view), directory_(directory) {}
  std::vector<std::string> files;

 protected:
  void EndSourceFileAction() override {
    files = repository_files(getCompilerInstance().getSourceManager(), view_, directory_);
    clang::PreprocessOnlyAction::EndSourceFileAction();
  }

 private:
  const SourceView& view_;
  const std::string& directory_;
};

}  // namespace

// Directives of each file without the code between them, which is all that decides what is included. Kept by
// content for the life of the frontend, as every unit reads mostly the same headers.
class Frontend::DirectiveCache {
 public:
  explicit DirectiveCache(std::shared_ptr<const SourceView> view) : view_(std::move(view)) {}

  std::optional<llvm::ArrayRef<clang::dependency_directives_scan::Directive>> find(
      const std::string& absolute) {
    const Route route = view_->route(absolute);
    const std::string key = (route.kind == Route::Kind::Tree ? "" : "/") + route.path;
    std::shared_ptr<const Entry> entry;
    {
      const std::shared_lock lock(mutex_);
      if (const auto known = entries_.find(key); known != entries_.end()) entry = known->second;
    }
    if (!entry) {
      auto fresh = std::make_shared<Entry>();
      if (route.kind == Route::Kind::Tree) {
        fresh->bytes = view_->contents(route.path);
      } else if (route.kind == Route::Kind::Disk) {
        if (auto buffer = llvm::MemoryBuffer::getFile(route.path)) {
          fresh->bytes = std::make_shared<const std::string>((*buffer)->getBuffer());
        }
      }
      fresh->usable = fresh->bytes && !clang::scanSourceForDependencyDirectives(*fresh->bytes, fresh->tokens,
                                                                                fresh->directives);
      const std::unique_lock lock(mutex_);
      entry = entries_.try_emplace(key, std::move(fresh)).first->second;
    }
    if (!entry->usable) return std::nullopt;
    return llvm::ArrayRef<clang::dependency_directives_scan::Directive>(entry->directives);
  }

 private:
  struct Entry {
    std::shared_ptr<const std::string> bytes;
    llvm::SmallVector<clang::dependency_directives_scan::Token, 0> tokens;
    llvm::SmallVector<clang::dependency_directives_scan::Directive, 0> directives;
    bool usable = false;
  };
  std::shared_ptr<const SourceView> view_;
  std::shared_mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Entry>>
      entries_;  // never erased: callers keep references
};

Frontend::Frontend(const std::string& repository_root, std::shared_ptr<const SourceTree> tree,
                   const std::vector<std::string>& other_paths, std::string cache_directory)
    : view_(std::make_shared<SourceView>(repository_root, std::move(tree), other_paths)),
      store_(std::make_unique<SystemHeaderStore>(view_, std::move(cache_directory))),
      directives_(std::make_shared<DirectiveCache>(view_)) {}

void Frontend::prepare(const std::vector<CompileCommand>& commands, unsigned jobs) {
  struct Unit {
    Result<UnitInvocation> invocation = fail(Error{});
    ProjectIncludes includes;
  };
  std::vector<Unit> units(commands.size());
  ProjectIncludeScanner scanner(view_);
  run_tasks(commands.size(), jobs, [&](std::size_t i) {
    units[i].invocation = make_invocation(commands[i], view_);
    if (units[i].invocation) units[i].includes = scanner.scan(*units[i].invocation);
  });

  std::map<std::uint64_t, HeaderGroup> groups;
  for (const Unit& unit : units) {
    if (!unit.invocation) continue;
    HeaderGroup& group = groups[unit.invocation->group];
    if (group.units++ == 0) group.representative = *unit.invocation;
    group.headers.insert(unit.includes.system_headers.begin(), unit.includes.system_headers.end());
    group.macros.insert(unit.includes.macros.begin(), unit.includes.macros.end());
  }
  std::vector<const HeaderGroup*> order;
  for (const auto& [key, group] : groups) order.push_back(&group);
  run_tasks(order.size(), jobs, [&](std::size_t i) { store_->obtain(*order[i]); });

  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (!units[i].invocation) continue;
    std::shared_ptr<const PrecompiledHeaders> headers = store_->find(units[i].invocation->group);
    const std::set<std::string>& macros = units[i].includes.macros;
    const bool conflict = headers && std::any_of(macros.begin(), macros.end(), [&](const std::string& name) {
                            return headers->conditions.contains(name);
                          });
    if (conflict) headers = nullptr;
    prepared_[commands[i].file] = {std::move(*units[i].invocation), std::move(headers)};
  }
}

ParseReport Frontend::parse_once(const UnitInvocation& unit, const PrecompiledHeaders* headers,
                                 const std::function<void(const ParsedUnit&)>& callback,
                                 const std::set<std::string>* with_bodies) const {
  ParseReport report;
  auto invocation = make_compiler_invocation(unit);
  if (!invocation) {
    report.errors = 1;
    report.messages.push_back(unit.source + ": clang refuses the flags of its command");
    return report;
  }
  if (headers != nullptr) invocation->getPreprocessorOpts().ImplicitPCHInclude = headers->file;
  ParseRequest request{*view_, unit, headers != nullptr, callback, with_bodies, {}};
  UnitAction action(request);
  RunReport run = run_action(std::move(invocation), unit, view_, action);
  report.errors = run.errors;
  report.messages = std::move(run.messages);
  report.lacks_file = run.lacks_file;
  report.files = std::move(request.files);
  report.precompiled = headers != nullptr;
  std::set<std::string> questions(unit.questions.begin(), unit.questions.end());
  for (const std::string& question : run.questions)
    if (!headers || (question != headers->file && question != headers->source)) questions.insert(question);
  if (headers) questions.insert(headers->inputs.begin(), headers->inputs.end());
  // A crash is no answer to keep: without questions the next run tries again.
  if (!run.crashed) report.questions.assign(questions.begin(), questions.end());
  return report;
}

void Frontend::finish(ParseReport& report, const CompileCommand& command) const {
  // The main source comes first, and is there even when nothing could be read.
  std::erase(report.files, command.file);
  report.files.insert(report.files.begin(), command.file);
}

ParseReport Frontend::parse(const CompileCommand& command,
                            const std::function<void(const ParsedUnit&)>& callback,
                            const std::set<std::string>* with_bodies) const {
  const auto prepared = prepared_.find(command.file);
  ParseReport report;
  if (prepared != prepared_.end()) {
    const Preparation& preparation = prepared->second;
    if (preparation.headers)
      report = parse_once(preparation.invocation, preparation.headers.get(), callback, with_bodies);
    if (!preparation.headers || (report.errors > 0 && !report.lacks_file))
      report = parse_once(preparation.invocation, nullptr, callback, with_bodies);
  } else if (const auto invocation = make_invocation(command, view_)) {
    report = parse_once(*invocation, nullptr, callback, with_bodies);
  } else {
    report.errors = 1;
    report.messages.push_back(invocation.error().message);
  }
  finish(report, command);
  return report;
}

ParseReport Frontend::closure(const CompileCommand& command) const {
  ParseReport report;
  const auto unit = make_invocation(command, view_);
  auto invocation = unit ? make_compiler_invocation(*unit) : nullptr;
  if (invocation) {
    const std::shared_ptr<DirectiveCache> directives = directives_;
    invocation->getPreprocessorOpts().DependencyDirectivesForFile = [directives,
                                                                     &unit](clang::FileEntryRef file) {
      return directives->find(absolute_path(file.getName(), unit->directory));
    };
    invocation->getFrontendOpts().ProgramAction = clang::frontend::RunPreprocessorOnly;
    ClosureAction action(*view_, unit->directory);
    RunReport run = run_action(std::move(invocation), *unit, view_, action);
    report.errors = run.errors;
    report.messages = std::move(run.messages);
    report.files = std::move(action.files);
  } else {
    report.errors = 1;
    report.messages.push_back(unit ? command.file + ": clang refuses the flags" : unit.error().message);
  }
  finish(report, command);
  return report;
}

}  // namespace simrt::analysis
