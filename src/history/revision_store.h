// Recorded revisions and the environments they were recorded in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "history/database.h"
#include "history/row_ids.h"

namespace simrt::history {

/// Compiler, flags, sanitizers and tool version. History of another key is never consulted silently.
struct Environment {
  std::string key;          ///< stable hash as text
  std::string description;  ///< for people
};

struct RevisionInfo {
  RevisionId id;                 ///< set by the history
  std::string sha;               ///< full commit id
  std::string environment;       ///< Environment::key
  std::int64_t recorded_at = 0;  ///< seconds since 1970
  bool complete = false;         ///< every test and unit of the revision was recorded
  bool shallow = false;          ///< recorded on a shallow clone
  std::string tool;              ///< version of simrt that recorded it
  bool has_tests = false;  ///< some test was recorded or announced; without, it is no base to select from
};

/// One part of a suite that was split over several machines; {1, 1} is the whole suite.
struct Shard {
  std::uint32_t index = 1;  ///< 1-based
  std::uint32_t count = 1;
};

/// How much of a revision a recording covers.
enum class Extent : std::uint8_t {
  Suite,  ///< all tests of it (or of a shard): it counts as incomplete until finish_revision()
  Part    ///< facts alone, or chosen tests: what was complete stays so, as nothing is taken away
};

/// Starts recording, or goes on with a revision recorded before (same sha and environment): its runs and
/// units stay, `recorded_at`, `shallow` and `tool` are updated.
Result<RevisionId> begin_revision(Database& database, const RevisionInfo& revision,
                                  const Environment& environment, Extent extent = Extent::Suite);

/// Notes that `shard` is recorded to its end. The revision is complete when all shards of one split are,
/// whether recorded here or merged from elsewhere. Error: Usage when the shard is out of range.
Status finish_revision(Database& database, RevisionId revision, Shard shard = {});

/// Null when this sha was never recorded in this environment.
Result<std::optional<RevisionInfo>> find_revision(Database& database, const std::string& sha,
                                                  const std::string& environment);
/// All revisions, newest first; of one environment when `environment` is not empty.
Result<std::vector<RevisionInfo>> revisions(Database& database, const std::string& environment = {});

Result<std::vector<Environment>> environments(Database& database);

}  // namespace simrt::history
