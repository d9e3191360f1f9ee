// Which headers ask about which identifiers in their preprocessor conditions, themselves or through what they
// include.
#pragma once

#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>

#include <map>
#include <memory>
#include <set>
#include <string>

namespace simrt::analysis {

/// Who includes whom and asks about what, as one run of the preprocessor over a list of #include lines sees
/// it. Files are numbered; the main file is left out of everything but `direct`.
struct HeaderGraph {
  using File = unsigned;
  std::map<std::string, File> direct;                ///< names that the main file includes
  std::map<File, std::set<File>> includes;           ///< also where an include guard made it a no-op
  std::map<File, std::set<std::string>> conditions;  ///< identifiers in its #if, #ifdef, defined(), ...

  std::set<std::string> all_conditions() const;
  /// The names of `direct` whose files reach a condition on `identifier`.
  std::set<std::string> asking(const std::string& identifier) const;
};

/// Callbacks that fill `graph`. Conditions of skipped groups are not seen; they cannot matter unless an outer
/// one, which is seen, changes.
std::unique_ptr<clang::PPCallbacks> collect_header_graph(clang::Preprocessor& preprocessor,
                                                         HeaderGraph& graph);

}  // namespace simrt::analysis
