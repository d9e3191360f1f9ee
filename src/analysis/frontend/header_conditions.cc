#include "analysis/frontend/header_conditions.h"

#include <clang/Basic/CharInfo.h>
#include <clang/Lex/Lexer.h>

#include <optional>
#include <vector>

namespace simrt::analysis {

namespace {

class GraphCollector final : public clang::PPCallbacks {
 public:
  using Location = clang::SourceLocation;
  using Range = clang::SourceRange;
  using Macro = clang::MacroDefinition;

  GraphCollector(clang::Preprocessor& preprocessor, HeaderGraph& graph)
      : preprocessor_(preprocessor), sources_(preprocessor.getSourceManager()), graph_(graph) {}

  void InclusionDirective(Location hash, const clang::Token&, llvm::StringRef name, bool,
                          clang::CharSourceRange, clang::OptionalFileEntryRef file, llvm::StringRef,
                          llvm::StringRef, const clang::Module*, bool,
                          clang::SrcMgr::CharacteristicKind) override {
    if (!file) return;
    const HeaderGraph::File included = file->getFileEntry().getUID();
    if (const auto includer = file_at(hash)) {
      graph_.includes[*includer].insert(included);
    } else {
      graph_.direct[name.str()] = included;
    }
  }

  void If(Location, Range condition, ConditionValueKind) override { add(condition); }
  void Elif(Location, Range condition, ConditionValueKind, Location) override { add(condition); }
  void Ifdef(Location, const clang::Token& name, const Macro&) override { add(name); }
  void Ifndef(Location, const clang::Token& name, const Macro&) override { add(name); }
  void Elifdef(Location, const clang::Token& name, const Macro&) override { add(name); }
  void Elifdef(Location, Range condition, Location) override { add(condition); }
  void Elifndef(Location, const clang::Token& name, const Macro&) override { add(name); }
  void Elifndef(Location, Range condition, Location) override { add(condition); }
  void Defined(const clang::Token& name, const Macro&, Range) override { add(name); }

 private:
  // Nothing for the main file and for what is in no file.
  std::optional<HeaderGraph::File> file_at(Location location) const {
    const clang::FileID id = sources_.getFileID(sources_.getExpansionLoc(location));
    const auto entry = sources_.getFileEntryRefForID(id);
    if (!entry || id == sources_.getMainFileID()) return std::nullopt;
    return entry->getFileEntry().getUID();
  }

  void add(const clang::Token& name) {
    const clang::IdentifierInfo* identifier = name.getIdentifierInfo();
    const auto file = file_at(name.getLocation());
    if (identifier != nullptr && file) graph_.conditions[*file].insert(identifier->getName().str());
  }

  void add(Range range) {
    const auto file = file_at(range.getBegin());
    if (!file) return;
    std::set<std::string>& names = graph_.conditions[*file];
    const llvm::StringRef text = clang::Lexer::getSourceText(clang::CharSourceRange::getCharRange(range),
                                                             sources_, preprocessor_.getLangOpts());
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t begin = i++;
      if (!clang::isAsciiIdentifierStart(text[begin])) continue;
      while (i < text.size() && clang::isAsciiIdentifierContinue(text[i])) ++i;
      names.insert(text.slice(begin, i).str());
    }
  }

  clang::Preprocessor& preprocessor_;
  const clang::SourceManager& sources_;
  HeaderGraph& graph_;
};

}  // namespace

std::set<std::string> HeaderGraph::all_conditions() const {
  std::set<std::string> all;
  for (const auto& [file, names] : conditions) all.insert(names.begin(), names.end());
  return all;
}

std::set<std::string> HeaderGraph::asking(const std::string& identifier) const {
  std::map<File, std::vector<File>> includers;
  for (const auto& [file, included] : includes) {
    for (const File other : included) includers[other].push_back(file);
  }
  std::set<File> reaching;
  std::vector<File> pending;
  for (const auto& [file, names] : conditions) {
    if (names.contains(identifier)) pending.push_back(file);
  }
  while (!pending.empty()) {
    const File file = pending.back();
    pending.pop_back();
    if (!reaching.insert(file).second) continue;
    const auto above = includers.find(file);
    if (above != includers.end()) pending.insert(pending.end(), above->second.begin(), above->second.end());
  }
  std::set<std::string> names;
  for (const auto& [name, file] : direct) {
    if (reaching.contains(file)) names.insert(name);
  }
  return names;
}

std::unique_ptr<clang::PPCallbacks> collect_header_graph(clang::Preprocessor& preprocessor,
                                                         HeaderGraph& graph) {
  return std::make_unique<GraphCollector>(preprocessor, graph);
}

}  // namespace simrt::analysis
