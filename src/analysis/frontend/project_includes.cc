#include "analysis/frontend/project_includes.h"

#include <clang/Lex/DependencyDirectivesScanner.h>
#include <clang/Lex/HeaderSearchOptions.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/MemoryBuffer.h>

#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>

namespace simrt::analysis {

namespace scan = clang::dependency_directives_scan;

namespace {

struct SearchDirectory {
  std::string path;  // absolute
  bool system = false;
  bool quoted_only = false;
};

std::vector<SearchDirectory> search_directories(const clang::CompilerInvocation& invocation,
                                                const std::string& directory) {
  std::vector<SearchDirectory> result;
  for (const auto& entry : invocation.getHeaderSearchOpts().UserEntries) {
    SearchDirectory next;
    next.path = entry.Path[0] == '/' ? entry.Path : directory + "/" + entry.Path;
    next.quoted_only = entry.Group == clang::frontend::Quoted;
    next.system = entry.Group != clang::frontend::Quoted && entry.Group != clang::frontend::Angled;
    result.push_back(std::move(next));
  }
  return result;
}

bool is_below(const std::string& path, const std::string& directory) {
  return path.starts_with(directory + "/");
}

}  // namespace

ProjectIncludeScanner::File ProjectIncludeScanner::parse(llvm::StringRef text) {
  File file;
  llvm::SmallVector<scan::Token, 64> tokens;
  llvm::SmallVector<scan::Directive, 64> directives;
  if (clang::scanSourceForDependencyDirectives(text, tokens, directives)) return file;
  const auto spelling = [&](const scan::Token& token) { return text.substr(token.Offset, token.Length); };
  std::string guard;  // name of an #ifndef that stands directly before
  for (const scan::Directive& directive : directives) {
    const llvm::ArrayRef<scan::Token> parts = directive.Tokens;
    std::string guarded = std::exchange(guard, {});
    if (parts.size() < 3) continue;
    const llvm::StringRef operand = spelling(parts[2]);
    switch (directive.Kind) {
      case scan::pp_include:
      case scan::pp_import:
      case scan::pp_include_next:
        if (operand.size() > 2 && (operand.front() == '<' || operand.front() == '"')) {
          file.includes.push_back({operand.drop_front().drop_back().str(), operand.front() == '<'});
        }
        break;
      case scan::pp_ifndef:
        guard = operand.str();
        break;
      case scan::pp_define:
      case scan::pp_undef:
        // `#ifndef X` `#define X` without a value is an include guard, which no system header asks for.
        if (operand != guarded || parts.size() > 4) file.macros.push_back(operand.str());
        break;
      default:
        break;
    }
  }
  return file;
}

std::shared_ptr<const ProjectIncludeScanner::File> ProjectIncludeScanner::read(const Route& route) {
  const std::string key = (route.kind == Route::Kind::Tree ? "" : "/") + route.path;
  {
    const std::shared_lock lock(mutex_);
    if (const auto known = files_.find(key); known != files_.end()) return known->second;
  }
  auto file = std::make_shared<File>();
  if (route.kind == Route::Kind::Tree) {
    if (const auto bytes = view_->contents(route.path)) *file = parse(*bytes);
  } else if (auto buffer = llvm::MemoryBuffer::getFile(route.path)) {
    *file = parse((*buffer)->getBuffer());
  }
  const std::unique_lock lock(mutex_);
  return files_.try_emplace(key, std::move(file)).first->second;
}

ProjectIncludes ProjectIncludeScanner::scan(const UnitInvocation& unit) {
  ProjectIncludes result;
  const auto invocation = make_compiler_invocation(unit);
  if (!invocation) return result;
  const std::vector<SearchDirectory> directories = search_directories(*invocation, unit.directory);
  std::unordered_set<std::string> seen;
  std::vector<std::string> pending{unit.source};

  const auto exists = [&](const std::string& path) {
    return view_->status(view_->route(path), path).operator bool();
  };
  // Where the compiler finds a name, as far as the given directories go.
  const auto search = [&](const Include& include,
                          const std::string& includer) -> std::pair<std::string, bool> {
    if (include.name[0] == '/') return {include.name, false};
    if (!include.angled) {
      const std::string beside = includer.substr(0, includer.rfind('/') + 1) + include.name;
      if (exists(beside)) return {beside, false};
    }
    for (const SearchDirectory& directory : directories) {
      if (directory.quoted_only && include.angled) continue;
      const std::string candidate = directory.path + "/" + include.name;
      if (exists(candidate)) return {candidate, directory.system};
    }
    return {"", true};
  };
  const auto visit = [&](const Include& include, const std::string& includer) {
    const auto [path, system] = search(include, includer);
    if (path.empty()) {
      if (include.angled) result.system_headers.insert(include.name);
      return;
    }
    const Route route = view_->route(path);
    // Generated headers (config.h) belong to the project: they must come where the source says, not before
    // it.
    const bool project =
        route.kind == Route::Kind::Tree ||
        (!system && (is_below(route.path, view_->root()) || is_below(route.path, unit.directory)));
    if (project || !include.angled) {
      pending.push_back(path);
    } else {
      result.system_headers.insert(include.name);
    }
  };

  for (const std::string& forced : invocation->getPreprocessorOpts().Includes) {
    visit({forced, false}, unit.directory + "/");
  }
  while (!pending.empty()) {
    const std::string path = std::move(pending.back());
    pending.pop_back();
    const Route route = view_->route(path);
    if (!seen.insert(route.path).second) continue;
    const auto file = read(route);
    result.macros.insert(file->macros.begin(), file->macros.end());
    for (const Include& include : file->includes) visit(include, path);
  }
  return result;
}

}  // namespace simrt::analysis
