// Tells "only function bodies of this file changed" from everything else, for one file as one unit sees it.
#pragma once

#include <clang/AST/Decl.h>
#include <clang/Basic/SourceManager.h>

#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace simrt::analysis {

/// The raw tokens of a file (no preprocessing, no comments, no white space), and where its directives stand.
struct FileTokens {
  struct Token {
    std::uint32_t offset = 0;
    std::uint64_t hash = 0;  ///< of the spelling, and of whether a directive begins or ends here
  };
  std::vector<Token> tokens;              ///< ascending offset
  std::vector<std::uint32_t> directives;  ///< offsets of '#', ascending
  std::uint64_t content = 0;              ///< hash of all bytes
};

FileTokens tokenize(std::string_view text);

/// Offsets of the first and last character of a body's braces.
struct BodyRange {
  std::uint32_t begin = 0, end = 0;
  auto operator<=>(const BodyRange&) const = default;
};

/// Bodies of ordinary functions, by file: not constexpr or consteval, no deduced return type, written in the
/// file and not by a macro. Bodies of templates and of members are among them. Looks at `declarations` and
/// what is declared inside them, never into function bodies.
std::map<clang::FileID, std::vector<BodyRange>> function_bodies(const std::vector<clang::Decl*>& declarations,
                                                                const clang::SourceManager& sources);

/// Hash of the tokens outside `bodies`; a body with a preprocessor directive in it counts as outside.
std::uint64_t declarations_digest(const FileTokens& file, std::vector<BodyRange> bodies);

}  // namespace simrt::analysis
