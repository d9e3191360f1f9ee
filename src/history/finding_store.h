// What `simrt check` found: its runs, findings by fingerprint, sightings, witnesses and suppressions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "history/database.h"
#include "history/row_ids.h"
#include "model/finding.h"

namespace simrt::history {

struct CheckRun {
  std::string head, base;
  std::int64_t started_at = 0;  ///< seconds since 1970
  double seconds = 0;
  std::uint64_t seed = 0;
  std::string detector;
  bool complete = false;
};

struct CheckedTest {
  std::string test;
  std::uint64_t executions = 0;
  double seconds = 0;
  std::string note;
};

struct Witness {
  std::string id;
  std::string test;
  std::uint64_t executable = 0;
  std::uint64_t switches = 0;
  std::string ending;
  std::string plan;  ///< JSON; this layer does not look inside
};

/// A finding as it is kept; `detail` is the report's JSON.
struct FindingRecord {
  std::uint64_t fingerprint = 0;
  FindingKind kind = FindingKind::Race;
  FindingStatus status = FindingStatus::Potential;
  Harm harm = Harm::Unknown;
  std::string variable, title, detail;
};

/// Starts a run as incomplete; finish_check() completes it.
Result<CheckRunId> begin_check(Database& database, const CheckRun& run);
Status finish_check(Database& database, CheckRunId id, double seconds, bool complete);
Status put_checked_test(Database& database, CheckRunId run, const CheckedTest& test);

/// Adds the finding or raises a known one (a confirmed one stays confirmed; its detail is replaced only by
/// one of the same or a higher status), and notes that `tests` showed it.
Status put_finding(Database& database, CheckRunId run, const FindingRecord& finding,
                   const std::vector<std::string>& tests);
/// For a finding put before. Replaces a witness of the same id.
Status put_witness(Database& database, CheckRunId run, std::uint64_t fingerprint, const Witness& witness);
/// By id, or by a prefix of it that fits one witness only. Nothing when there is none, or several.
Result<std::optional<Witness>> find_witness(Database& database, const std::string& id);

struct Suppression {
  std::uint64_t fingerprint = 0;
  std::string reason;
  std::int64_t created_at = 0, expires_at = 0;  ///< seconds since 1970
};
Status put_suppression(Database& database, const Suppression& suppression);
Result<std::vector<Suppression>> suppressions(Database& database);

struct KnownFinding {
  FindingRecord record;
  std::uint64_t sightings = 0;
  std::int64_t first_seen = 0, last_seen = 0;
  std::string last_head;           ///< revision of the last sighting
  std::vector<std::string> tests;  ///< that showed it at its last sighting
  std::string witness;             ///< newest id; may be empty
};
/// Newest sighting first.
Result<std::vector<KnownFinding>> known_findings(Database& database);

}  // namespace simrt::history
