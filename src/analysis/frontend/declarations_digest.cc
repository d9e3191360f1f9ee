#include "analysis/frontend/declarations_digest.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclFriend.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Stmt.h>
#include <clang/Basic/LangOptions.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>

#include "support/hash.h"

namespace simrt::analysis {

namespace {

enum Salt : std::uint64_t { kPlain = 0, kDirectiveBegins = 1, kDirectiveEnded = 2, kSpaceBefore = 3 };

constexpr std::size_t kAfterMacroName = 3;  // "#", "define", the name

// One set of rules for C and C++ files: the digest is only ever compared with that of another version of the
// file.
clang::LangOptions lexing_rules() {
  clang::LangOptions rules;
  rules.CPlusPlus = rules.CPlusPlus11 = rules.CPlusPlus14 = rules.CPlusPlus17 = rules.CPlusPlus20 = true;
  rules.LineComment = true;
  rules.RawStringLiterals = true;
  return rules;
}

class BodyCollector {
 public:
  explicit BodyCollector(const clang::SourceManager& sources) : sources_(sources) {}
  std::map<clang::FileID, std::vector<BodyRange>> bodies;

  void visit(clang::Decl* declaration) {
    if (declaration->isImplicit()) return;
    if (auto* wrapper = llvm::dyn_cast<clang::FriendDecl>(declaration)) {
      if (clang::NamedDecl* befriended = wrapper->getFriendDecl()) visit(befriended);
    } else if (auto* pattern = llvm::dyn_cast<clang::TemplateDecl>(declaration)) {
      if (clang::NamedDecl* templated = pattern->getTemplatedDecl()) visit(templated);
    } else if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      add(*function);
    } else if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl, clang::ExportDecl, clang::RecordDecl>(
                   declaration)) {
      for (clang::Decl* inner : llvm::cast<clang::DeclContext>(declaration)->decls()) visit(inner);
    }
  }

 private:
  void add(const clang::FunctionDecl& function) {
    if (!function.doesThisDeclarationHaveABody() || function.isConstexpr() || function.isConsteval()) return;
    // Callers see a deduced type, so such a body is part of the declaration.
    if (function.getReturnType()->getContainedDeducedType() != nullptr) return;
    const clang::Stmt* body = function.getBody();
    if (body == nullptr) return;
    const clang::SourceLocation begin = body->getBeginLoc();
    const clang::SourceLocation end = body->getEndLoc();
    if (!begin.isFileID() || !end.isFileID()) return;
    const auto [file, first] = sources_.getDecomposedLoc(begin);
    const auto [last_file, last] = sources_.getDecomposedLoc(end);
    if (file == last_file && first < last) bodies[file].push_back({first, last});
  }

  const clang::SourceManager& sources_;
};

}  // namespace

FileTokens tokenize(std::string_view text) {
  FileTokens result;
  result.content = hash_bytes(text);
  static const clang::LangOptions rules = lexing_rules();
  const std::string terminated(text);
  clang::Lexer lexer(clang::SourceLocation(), rules, terminated.data(), terminated.data(),
                     terminated.data() + terminated.size());
  bool in_directive = false;
  std::size_t position = 0;  // of the token in its directive; "#" is 0
  std::string_view directive;
  clang::Token token;
  while (true) {
    lexer.LexFromRawLexer(token);
    const auto end = static_cast<std::uint32_t>(lexer.getCurrentBufferOffset());
    if (token.is(clang::tok::eof)) break;
    const std::uint32_t offset = end - token.getLength();
    std::uint64_t salt = kPlain;
    if (token.is(clang::tok::hash) && token.isAtStartOfLine()) {
      result.directives.push_back(offset);
      in_directive = true;
      position = 0;
      salt = kDirectiveBegins;
    } else if (in_directive && token.isAtStartOfLine()) {
      in_directive = false;
      salt = kDirectiveEnded;
    } else if (in_directive && ++position == kAfterMacroName && directive == "define" &&
               token.is(clang::tok::l_paren) && token.hasLeadingSpace()) {
      salt = kSpaceBefore;  // `#define f(x)` and `#define f (x)` differ
    }
    const std::string_view spelling = std::string_view(terminated).substr(offset, token.getLength());
    if (in_directive && position == 1) directive = spelling;
    result.tokens.push_back({offset, hash_combine(hash_bytes(spelling), salt)});
  }
  return result;
}

std::map<clang::FileID, std::vector<BodyRange>> function_bodies(const std::vector<clang::Decl*>& declarations,
                                                                const clang::SourceManager& sources) {
  BodyCollector collector(sources);
  for (clang::Decl* declaration : declarations) collector.visit(declaration);
  return std::move(collector.bodies);
}

std::uint64_t declarations_digest(const FileTokens& file, std::vector<BodyRange> bodies) {
  std::erase_if(bodies, [&](const BodyRange& body) {
    const auto directive = std::lower_bound(file.directives.begin(), file.directives.end(), body.begin);
    return directive != file.directives.end() && *directive < body.end;
  });
  std::sort(bodies.begin(), bodies.end());
  std::uint64_t digest = file.directives.size();
  auto body = bodies.begin();
  std::uint32_t skipped_to = 0;  // last offset inside the bodies seen so far
  std::uint32_t skipped_from = 0;
  for (const FileTokens::Token& token : file.tokens) {
    while (body != bodies.end() && body->begin < token.offset) {
      if (body->end > skipped_to) {
        skipped_from = body->begin;
        skipped_to = body->end;
      }
      ++body;
    }
    if (token.offset > skipped_from && token.offset < skipped_to) continue;
    digest = hash_combine(digest, token.hash);
  }
  return digest;
}

}  // namespace simrt::analysis
