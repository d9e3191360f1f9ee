// `simrt doctor --mapping`: how good is the way from coverage guards to CFG blocks?
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/mapping/mapping.h"
#include "pipeline/project/doctor.h"
#include "support/result.h"

namespace simrt::pipeline {

/// The mapping of one program, with the dominator checks over what its tests covered. A pair of blocks counts
/// as checked once, however many tests cover it, and as violated when any test contradicts it.
struct ProgramMapping {
  std::string path;
  std::size_t tests = 0;          ///< recorded tests that run it
  std::size_t with_coverage = 0;  ///< of these, the ones with usable coverage
  analysis::MappingReport report;
};

struct MappingQuality {
  std::vector<ProgramMapping> programs;  ///< instrumented programs of the recorded tests, by path
  ProgramMapping total;                  ///< sums over `programs`; no path
  std::vector<std::string> skipped;      ///< programs that are gone or not instrumented: "path: why"
  std::vector<project::Check> checks;    ///< against the goals: mapped blocks, dominators
};

/// Maps every instrumented program that the newest recorded revision's tests run by name, and checks the
/// recorded coverage against the dominators. Reads the programs, runs nothing.
/// Errors: History (nothing recorded), Analysis.
Result<MappingQuality> check_mapping(const std::string& directory, const std::string& database);

}  // namespace simrt::pipeline
