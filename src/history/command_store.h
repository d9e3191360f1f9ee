// How the units of a recorded revision were compiled. Where source and build directory lie is the caller's
// business: the history keeps what it is given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "history/database.h"
#include "history/row_ids.h"

namespace simrt::history {

struct StoredCommand {
  std::string path;        ///< of the unit
  std::uint64_t hash = 0;  ///< UnitFacts::command of the facts that were made with it
  std::string directory;
  std::vector<std::string> arguments;
  bool operator==(const StoredCommand&) const = default;
};

/// Replaces the commands of `revision`. One transaction.
Status put_commands(Database& database, RevisionId revision, const std::vector<StoredCommand>& commands);

/// The commands of `revision`, by path; of a path with several (merged from recordings that disagree) the
/// first one stored. Empty for a revision that was recorded by a version of simrt that kept none.
Result<std::vector<StoredCommand>> revision_commands(Database& database, RevisionId revision);

}  // namespace simrt::history
