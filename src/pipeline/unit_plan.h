// Which translation units a diff forces us to parse again. Pure: file changes and recorded include closures
// in, a plan out. Cost follows the diff: a header whose function bodies alone changed costs one unit
// (analysis of 34 of leveldb's 34 headers needs no more), however many include it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/change.h"
#include "model/program.h"

namespace simrt::pipeline {

struct UnitPlan {
  std::set<std::string> parse;  ///< unit paths at the new revision
  /// Recorded units that no longer exist (their source was deleted or renamed, or nothing compiles it any
  /// more).
  std::vector<std::string> removed;
  /// Changed headers with the unit that stands for all includers, as long as only function bodies differ.
  std::map<std::string, std::string> representative;
  /// Changes that no unit compiles or includes: for the rule table of the configuration.
  std::vector<FileChange> outside;
  /// Changed or new sources for which no compile command is known.
  std::vector<std::string> without_command;
};

/// `commands`: unit path -> command hash at the new revision.
UnitPlan plan_units(const std::vector<UnitSummary>& recorded,
                    const std::map<std::string, std::uint64_t>& commands,
                    const std::vector<FileChange>& changes);

/// After the planned units were parsed: the further units that have to be, because a represented header
/// changed outside function bodies (macro, type, constant, declaration, include).
struct FurtherUnits {
  std::set<std::string> units;
  std::vector<std::string> widened_headers;  ///< those whose declarations changed
};
FurtherUnits further_units(const UnitPlan& plan, const std::vector<UnitSummary>& recorded,
                           const std::vector<UnitFacts>& parsed);

/// Of a function whose definition differs from the recorded one of the same unit, units that hold another
/// instantiation (of a template) or another variant (units with other macros define it otherwise). What
/// stands in one of the `represented` headers takes only one unit for each definition that was recorded.
std::set<std::string> units_with_other_versions(const Program& recorded, const std::vector<UnitFacts>& parsed,
                                                const std::set<std::string>& represented);

/// True for a path that a C or C++ compiler is given as its main file.
bool is_source_file(const std::string& path);
bool is_header_file(const std::string& path);

}  // namespace simrt::pipeline
