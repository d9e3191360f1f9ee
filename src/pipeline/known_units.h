// What the recording knows of the units that a change touches, for those that are worth parsing in part.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/known_unit.h"
#include "model/change.h"
#include "model/program.h"

namespace simrt::pipeline {

/// Asked unit by unit; the program and the changes must outlive it. Not thread-safe.
class UnitKnowledge {
 public:
  UnitKnowledge(const Program& recorded, const std::vector<FileChange>& changes);

  /// Null when the unit has to be parsed whole, as far as one can see without a parse: it was not recorded,
  /// or with another command or with errors; the change is not in lines of function bodies alone; or a
  /// changed header holds instantiations, which other bodies may have asked for.
  const analysis::KnownUnit* find(const std::string& path, std::uint64_t command);

  /// These headers turned out to have changed outside function bodies: no further unit with one of them is
  /// known.
  void widen(const std::vector<std::string>& headers) { widened_.insert(headers.begin(), headers.end()); }

  const analysis::KnownUnits& found() const { return found_; }
  /// Of what find() found; 0 for other units.
  std::uint64_t fingerprint(const std::string& path) const;

 private:
  analysis::KnownUnit known_unit(const UnitSummary& unit) const;
  bool changes_bodies_alone(const UnitSummary& unit) const;

  const Program& recorded_;
  std::map<std::string, const FileChange*> changes_;  ///< by old path
  analysis::KnownUnits found_;
  std::set<std::string> refused_, widened_;
};

}  // namespace simrt::pipeline
