// Facts of translation units: stored once a content, linked to the revisions that hold them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "history/database.h"
#include "history/row_ids.h"
#include "model/facts.h"
#include "model/program.h"

namespace simrt::history {

/// A unit without its functions, for finding out what changed.
struct StoredUnit {
  UnitId id;
  std::string path;
  std::uint64_t command = 0;
  std::uint32_t errors = 0;
  std::vector<FileFacts> files;  ///< in the order of UnitFacts::files
  bool readable = true;          ///< false: written by another version of the facts codec; parse it again
};

/// Content hash of a repository file at the revision in question; nullopt when the file does not exist there.
using ContentHash = std::function<std::optional<std::uint64_t>(const std::string& path)>;

/// Stores the facts (functions, points and variables that any unit stored before are shared) and links the
/// unit to `revision`, in place of another version of the same (path, command). One transaction.
Result<UnitId> put_unit(Database& database, RevisionId revision, const UnitFacts& unit);

/// The newest stored unit with this path and command all of whose files have the given contents: its facts
/// can be linked instead of parsing again. Units with errors are found, too. Null when there is none.
Result<std::optional<StoredUnit>> find_unit(Database& database, const std::string& path,
                                            std::uint64_t command, const ContentHash& content);

/// Links a stored unit to `revision`, in place of another version of the same (path, command).
Status link_unit(Database& database, RevisionId revision, UnitId unit);

/// Unlinks the units of `revision` that are not in `kept`: sources that no longer exist. Returns how many.
Result<std::uint32_t> keep_units(Database& database, RevisionId revision, const std::vector<UnitId>& kept);

/// The units of a revision without functions, by path and command. Fast: one query and the files' rows.
Result<std::vector<StoredUnit>> revision_units(Database& database, RevisionId revision);

/// The program of a revision, equal to unite() of its units. Error: History when a blob is damaged or was
/// written by another version of the codec.
Result<Program> load_program(Database& database, RevisionId revision);

/// Source points of every function of a revision, ascending by function; ids as in load_program().
Result<std::vector<FunctionPoints>> load_points(Database& database, RevisionId revision);

/// A stored unit as it was put. For tools and tests; load_program() is the fast way to a whole revision.
Result<UnitFacts> load_unit(Database& database, UnitId unit);

}  // namespace simrt::history
