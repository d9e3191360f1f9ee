// From places in the sources to the calls in a module's code that stand for them: among those are the hooks
// of a check build. x86-64 only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/result.h"

namespace simrt::analysis {

/// Immutable once loaded. Calls are return addresses, ascending, each once; what only looks like a call may
/// be among them.
class CodeSites {
 public:
  /// `sources`: repository-relative paths that the program may be built from, for builds of copies or under
  /// another root. Errors: Analysis, when the file is no readable ELF file. Without debug information it has
  /// no places.
  static Result<CodeSites> load(const std::string& path, const std::string& repository_root,
                                const std::vector<std::string>& sources);
  CodeSites(CodeSites&&) noexcept;
  CodeSites& operator=(CodeSites&&) noexcept;
  ~CodeSites();

  /// Whether the module has code of a line from `first` to `last`. Code of a library's header that was
  /// inlined belongs to the line of the repository's that called it.
  bool has_code(const std::string& file, std::uint32_t first, std::uint32_t last) const;
  /// The calls in the code of a line. Empty: no code, or none.
  std::vector<std::uint64_t> calls_at(const std::string& file, std::uint32_t line) const;
  /// A function that a call leaves to the dynamic linker, so that it may lie in any module.
  struct Linked {
    std::string symbol;
    bool by_library = false;  ///< library code calls it
    auto operator<=>(const Linked&) const = default;
  };
  struct LibraryCode {
    std::vector<std::uint64_t> calls;
    std::vector<Linked> linked;  ///< each once
  };
  /// The calls in the library code (functions of headers outside the repository) that these calls, and calls
  /// of these functions from other modules, lead to, directly and through each other; and in what a library
  /// calls back (copies of elements, comparisons), but not in what that calls of the repository in turn.
  LibraryCode library_code_behind(const std::vector<std::uint64_t>& calls,
                                  const std::vector<Linked>& functions) const;

 private:
  struct Tables;
  explicit CodeSites(std::unique_ptr<Tables> tables);
  std::unique_ptr<Tables> tables_;
};

}  // namespace simrt::analysis
