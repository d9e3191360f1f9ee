// Which functions of the program a function in the debug information is. Internal to mapping.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/mapping/debug_info.h"
#include "model/program.h"

namespace simrt::analysis {

class FunctionMatcher {
 public:
  explicit FunctionMatcher(const Program& program);

  /// All facts that may describe the function, usually one. By linkage name first; several variants of one
  /// name (other macros in another unit) are told apart by the compile unit. Then, for lambdas, internal
  /// functions and instantiations without facts of their own, by declaring file and line and by the
  /// unqualified name. `file` and `unit`: repository-relative paths of the declaration and the compile unit;
  /// may be empty.
  std::vector<const FunctionFacts*> match(const DebugFunction& function, const std::string& file,
                                          const std::string& unit) const;

  /// The initialisers of globals in a file: compilers put them into functions of their own, one per variable
  /// (clang) or one per unit (gcc).
  std::vector<const FunctionFacts*> static_initialisers(const std::string& file) const;

  static bool is_static_initialiser(const DebugFunction& function);

 private:
  using Candidates = std::vector<const FunctionFacts*>;
  Candidates by_name(const DebugFunction& function, const std::string& file, const std::string& unit) const;
  Candidates by_line(const DebugFunction& function, const std::string& file, const std::string& unit) const;
  Candidates of_unit(Candidates candidates, const std::string& unit) const;

  std::unordered_map<std::string_view, Candidates> by_linkage_;
  std::unordered_map<std::string_view, Candidates> by_file_;
  std::unordered_map<std::string_view, const UnitSummary*> units_;
};

/// The last component of a qualified name, without template arguments and parameters: "a::B<c::D>::f<int>(e)"
/// -> "f"; "operator<" and friends stay whole.
std::string_view unqualified_name(std::string_view name);

}  // namespace simrt::analysis
