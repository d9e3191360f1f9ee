#include "analysis/frontend/header_conditions.h"

#include <clang/Basic/CharInfo.h>
#include <clang/Lex/Lexer.h>

#include <utility>

namespace simrt::analysis {

namespace {

using Report = std::function<void(llvm::StringRef, clang::SourceLocation)>;

class ConditionCollector final : public clang::PPCallbacks {
 public:
  ConditionCollector(clang::Preprocessor& preprocessor, Report report)
      : preprocessor_(preprocessor), report_(std::move(report)) {}

  void If(clang::SourceLocation, clang::SourceRange condition, ConditionValueKind) override {
    add(condition);
  }
  void Elif(clang::SourceLocation, clang::SourceRange condition, ConditionValueKind,
            clang::SourceLocation) override {
    add(condition);
  }
  void Ifdef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition&) override {
    add(name);
  }
  void Ifndef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition&) override {
    add(name);
  }
  void Elifdef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition&) override {
    add(name);
  }
  void Elifdef(clang::SourceLocation, clang::SourceRange condition, clang::SourceLocation) override {
    add(condition);
  }
  void Elifndef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition&) override {
    add(name);
  }
  void Elifndef(clang::SourceLocation, clang::SourceRange condition, clang::SourceLocation) override {
    add(condition);
  }
  void Defined(const clang::Token& name, const clang::MacroDefinition&, clang::SourceRange) override {
    add(name);
  }

 private:
  void add(const clang::Token& name) {
    if (const clang::IdentifierInfo* identifier = name.getIdentifierInfo())
      report_(identifier->getName(), name.getLocation());
  }

  void add(clang::SourceRange range) {
    const llvm::StringRef text =
        clang::Lexer::getSourceText(clang::CharSourceRange::getCharRange(range),
                                    preprocessor_.getSourceManager(), preprocessor_.getLangOpts());
    for (std::size_t i = 0; i < text.size();) {
      if (!clang::isAsciiIdentifierStart(text[i])) {
        ++i;
        continue;
      }
      const std::size_t begin = i;
      while (i < text.size() && clang::isAsciiIdentifierContinue(text[i])) ++i;
      report_(text.slice(begin, i), range.getBegin());
    }
  }

  clang::Preprocessor& preprocessor_;
  Report report_;
};

}  // namespace

std::unique_ptr<clang::PPCallbacks> collect_conditions(clang::Preprocessor& preprocessor, Report report) {
  return std::make_unique<ConditionCollector>(preprocessor, std::move(report));
}

}  // namespace simrt::analysis
