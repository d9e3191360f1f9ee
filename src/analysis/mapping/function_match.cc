#include "analysis/mapping/function_match.h"

#include <algorithm>

namespace simrt::analysis {
namespace {

/// End of a qualified name's part before parameters and template arguments, from `begin`.
std::size_t end_of_identifier(std::string_view name, std::size_t begin) {
  while (begin < name.size() && name[begin] != '<' && name[begin] != '(' && name[begin] != '[') ++begin;
  return begin;
}

bool same_name(const FunctionFacts& facts, std::string_view debug_name) {
  if (facts.has(kLambda)) return debug_name == "operator()";
  return unqualified_name(facts.name) == unqualified_name(debug_name);
}

}  // namespace

std::string_view unqualified_name(std::string_view name) {
  const auto op = name.find("operator");
  const bool is_operator = op != std::string_view::npos && (op == 0 || name[op - 1] == ':') &&
                           op + 8 < name.size() &&
                           std::isalnum(static_cast<unsigned char>(name[op + 8])) == 0 && name[op + 8] != '_';
  if (is_operator) {
    // "operator()(int)" keeps its first parentheses; the parameter list begins at the next one.
    const std::size_t symbol = op + 8;
    const std::size_t search = name.substr(symbol).starts_with("()") ? symbol + 2 : symbol;
    return name.substr(op, name.find('(', search) - op);
  }
  std::size_t begin = 0;
  std::size_t end = 0;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '(' && depth == 0) {
      // "(anonymous namespace)::f" is a component, "f(int)" is the end.
      if (!name.substr(i).starts_with("(anonymous")) break;
    }
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (depth == 0 && c == ':' && i + 1 < name.size() && name[i + 1] == ':') begin = i + 2;
  }
  end = end_of_identifier(name, begin);
  return name.substr(begin, end - begin);
}

FunctionMatcher::FunctionMatcher(const Program& program) {
  for (const FunctionFacts& facts : program.functions) {
    by_file_[facts.file].push_back(&facts);
    for (const std::string& linkage : facts.linkage_names) {
      Candidates& list = by_linkage_[linkage];
      if (list.empty() || list.back() != &facts) list.push_back(&facts);
    }
  }
  for (const UnitSummary& unit : program.units) units_[unit.path] = &unit;
}

std::vector<const FunctionFacts*> FunctionMatcher::match(const DebugFunction& function,
                                                         const std::string& file,
                                                         const std::string& unit) const {
  Candidates named = by_name(function, file, unit);
  return named.empty() ? by_line(function, file, unit) : named;
}

FunctionMatcher::Candidates FunctionMatcher::by_name(const DebugFunction& function, const std::string& file,
                                                     const std::string& unit) const {
  auto found = by_linkage_.find(function.linkage.empty() ? function.name : function.linkage);
  if (found == by_linkage_.end()) return {};
  Candidates here;
  for (const FunctionFacts* facts : found->second) {
    if (facts->file == file) here.push_back(facts);
  }
  // An implicit member may be declared elsewhere than its facts say; a plain name alone proves nothing.
  if (here.empty() && function.linkage.starts_with("_Z")) here = found->second;
  return of_unit(std::move(here), unit);
}

FunctionMatcher::Candidates FunctionMatcher::by_line(const DebugFunction& function, const std::string& file,
                                                     const std::string& unit) const {
  auto found = by_file_.find(file);
  if (file.empty() || function.line == 0 || found == by_file_.end()) return {};
  Candidates best;
  std::uint32_t best_size = UINT32_MAX;
  for (const FunctionFacts* facts : found->second) {
    if (function.line < facts->begin_line || function.line > facts->end_line) continue;
    if (!same_name(*facts, function.name)) continue;
    const std::uint32_t size = facts->end_line - facts->begin_line;
    if (size > best_size) continue;
    if (size < best_size) best.clear();
    best_size = size;
    best.push_back(facts);
  }
  // No facts of this very instantiation: the pattern stands for it.
  Candidates patterns;
  for (const FunctionFacts* facts : best) {
    if (facts->has(kDependent)) patterns.push_back(facts);
  }
  return of_unit(patterns.empty() ? std::move(best) : std::move(patterns), unit);
}

FunctionMatcher::Candidates FunctionMatcher::of_unit(Candidates candidates, const std::string& unit) const {
  auto found = units_.find(unit);
  if (candidates.size() < 2 || found == units_.end()) return candidates;
  const std::vector<FunctionId>& defined = found->second->functions;
  Candidates here;
  for (const FunctionFacts* facts : candidates) {
    if (std::find(defined.begin(), defined.end(), facts->id) != defined.end()) here.push_back(facts);
  }
  return here.empty() ? candidates : here;
}

std::vector<const FunctionFacts*> FunctionMatcher::static_initialisers(const std::string& file) const {
  Candidates result;
  auto found = by_file_.find(file);
  if (found == by_file_.end()) return result;
  for (const FunctionFacts* facts : found->second) {
    if (facts->has(kStaticInit)) result.push_back(facts);
  }
  return result;
}

bool FunctionMatcher::is_static_initialiser(const DebugFunction& function) {
  const std::string& name = function.name.empty() ? function.linkage : function.name;
  return name.starts_with("__cxx_global_var_init") || name.starts_with("__cxx_global_array_dtor") ||
         name.starts_with("_GLOBAL__") || name.starts_with("__static_initialization_and_destruction") ||
         name.starts_with("__tls_init");
}

}  // namespace simrt::analysis
