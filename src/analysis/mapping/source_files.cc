#include "analysis/mapping/source_files.h"

#include <set>

namespace simrt::analysis {

std::vector<std::string> source_files(const Program& program) {
  std::set<std::string> files;
  for (const FunctionFacts& function : program.functions) files.insert(function.file);
  for (const UnitSummary& unit : program.units) files.insert(unit.path);
  return {files.begin(), files.end()};
}

}  // namespace simrt::analysis
