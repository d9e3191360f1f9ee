// What a recording knows of a translation unit, for parsing it at a later revision: bodies in files that are
// as they were recorded need not be looked at again, so that the cost of a unit follows the diff, too.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/facts.h"

namespace simrt::analysis {

struct SkippedFunctions;

struct KnownFunction {
  FunctionId id;             ///< as the recorded program has it (it may be a variant's)
  std::uint32_t file = 0;    ///< index into KnownUnit::files
  bool made_by_use = false;  ///< an instantiation or an implicit member: there as long as somebody uses it
};

struct KnownUnit {
  std::string path;
  std::vector<FileFacts> files;  ///< main source first, then by path
  std::vector<KnownFunction> functions;

  /// Of all that a parse with this knowledge depends on, beside the sources.
  std::uint64_t fingerprint() const;
};

/// By path of the main source.
using KnownUnits = std::map<std::string, KnownUnit>;

/// Completes the facts of a parse that skipped the bodies outside the files `parsed` with what is known: sets
/// UnitFacts::kept. False when they cannot be completed, and the unit has to be parsed whole:
/// - a file was added or is no longer read, or one of `parsed` changed outside function bodies: the skipped
///   functions may mean something else now;
/// - the parsed bodies need a function that was not recorded (an instantiation for other types), or one for a
///   type of theirs, whose members may have changed;
/// - a function that is there when it is used stands in one of `parsed`, and none of the parsed bodies uses
/// it.
bool complete(UnitFacts& fresh, const SkippedFunctions& skipped, const KnownUnit& known,
              const std::set<std::string>& parsed);

}  // namespace simrt::analysis
