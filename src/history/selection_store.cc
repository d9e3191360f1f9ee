#include "history/selection_store.h"

#include <algorithm>
#include <set>

#include "history/failure.h"
#include "history/names.h"
#include "history/query.h"
#include "support/hash.h"

namespace simrt::history {
namespace {

/// Changes in a hub of a program impact hundreds of thousands of pairs, and `select` runs at every push: what
/// is stored of them is bounded, or the database would grow by megabytes a run.
constexpr std::uint32_t kStoredPairs = 1000;  ///< of each kind, covered and uncovered
constexpr int kDetailedSelections = 10;

/// Those of the pairs that are stored; the ordinals stay those of the impact.
void store_accesses(Connection& connection, SelectionId id, const Impact& impact, const Program& head,
                    const std::vector<bool>& wanted) {
  Query insert(connection,
               "INSERT INTO selection_access(selection, ordinal, function, function_name, variable, "
               "variable_name, file, "
               "line, column, mode, impacted, rule, cause) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (std::uint32_t ordinal = 0; ordinal < impact.accesses.size(); ++ordinal) {
    if (!wanted[ordinal]) continue;
    const SharedAccess& access = impact.accesses[ordinal];
    insert.bind(id.value, ordinal, access.function.value, head.name_of(access.function),
                access.variable.value, head.name_of(access.variable), access.file, access.at.line,
                access.at.column, static_cast<int>(access.mode), access.impacted,
                static_cast<int>(access.rule), access.cause);
    insert.run();
  }
}

/// Returns which accesses have a part in them.
std::vector<bool> store_pairs(Connection& connection, SelectionId id, const Impact& impact,
                              const Selection& selection) {
  std::vector<bool> used(impact.accesses.size());
  const std::set<std::uint32_t> uncovered(selection.uncovered.begin(), selection.uncovered.end());
  Query insert(
      connection,
      "INSERT INTO selection_pair(selection, ordinal, first, second, covered) VALUES (?, ?, ?, ?, ?)");
  std::uint32_t ordinal = 0;
  std::uint32_t stored[2] = {0, 0};
  for (const AccessPair& pair : impact.pairs) {
    const bool covered = !uncovered.contains(ordinal);
    if (stored[covered]++ < kStoredPairs) {
      insert.bind(id.value, ordinal, pair.first, pair.second, covered);
      insert.run();
      used[pair.first] = used[pair.second] = true;
    }
    ++ordinal;
  }
  return used;
}

/// Older selections keep their figures and decisions.
void forget_old_details(Connection& connection) {
  for (const char* table : {"selection_pair", "selection_access"})
    Query(connection,
          std::string("DELETE FROM ") + table +
              " WHERE selection <= (SELECT id FROM selection ORDER BY id DESC LIMIT 1 OFFSET ?)",
          kDetailedSelections)
        .run();
}

void store_decisions(Connection& connection, SelectionId id, const Selection& selection) {
  Query insert(connection,
               "INSERT OR REPLACE INTO selection_decision(selection, test, rank, run, tier, new_pairs, "
               "pairs, seconds, "
               "reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const Decision& decision : selection.decisions) {
    if (decision.rank == 0) continue;
    insert.bind(id.value, decision.test.value, decision.rank, decision.run, static_cast<int>(decision.tier),
                decision.new_pairs, decision.pairs, decision.seconds,
                decision.reasons.empty() ? std::string() : decision.reasons.front().text);
    insert.run();
  }
}

std::uint64_t selection_uid(Connection& connection, const SelectionRecord& record) {
  Query key(connection,
            "SELECT r.sha, (SELECT coalesce(max(id), 0) FROM selection) FROM revision r WHERE r.id = ?",
            record.base.value);
  if (!key.next()) throw Failure{{ErrorCode::Internal, "a selection was stored for an unknown revision", {}}};
  std::uint64_t uid = hash_combine(hash_bytes(key.bytes(0)), hash_bytes(record.head));
  uid = hash_combine(uid, static_cast<std::uint64_t>(record.created_at));
  uid = hash_combine(uid, static_cast<std::uint64_t>(record.technique));
  return hash_combine(uid, key.u64(1));
}

StoredAccess read_access(const Query& row, int column) {
  return {row.text(column),
          row.text(column + 1),
          row.u32(column + 2),
          row.u32(column + 3),
          static_cast<AccessMode>(row.i64(column + 4)),
          row.flag(column + 5)};
}

}  // namespace

Result<SelectionId> put_selection(Database& database, const SelectionRecord& record, const Impact& impact,
                                  const Selection& selection, const Program& head) {
  return written(database, [&](Connection& connection) -> Result<SelectionId> {
    const auto selected = std::count_if(selection.decisions.begin(), selection.decisions.end(),
                                        [](const Decision& decision) { return decision.run; });
    Query(connection,
          "INSERT INTO selection(uid, base, head, technique, created_at, tests, selected, pairs, uncovered, "
          "unknowns) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          selection_uid(connection, record), record.base.value, record.head,
          static_cast<int>(record.technique), record.created_at, selection.decisions.size(), selected,
          impact.pairs.size(), selection.uncovered.size(), impact.unknowns.size())
        .run();
    const SelectionId id{last_row(connection)};
    store_accesses(connection, id, impact, head, store_pairs(connection, id, impact, selection));
    store_decisions(connection, id, selection);
    forget_old_details(connection);
    return id;
  });
}

Result<std::vector<SelectionSummary>> selections(Database& database, std::uint32_t limit) {
  return guarded(database, [&](Connection& connection) -> Result<std::vector<SelectionSummary>> {
    std::vector<SelectionSummary> found;
    Query row(
        connection,
        "SELECT s.id, r.sha, s.head, s.technique, s.created_at, s.tests, s.selected, s.pairs, s.uncovered, "
        "s.unknowns FROM selection s JOIN revision r ON r.id = s.base ORDER BY s.created_at DESC, s.id DESC "
        "LIMIT ?",
        limit);
    while (row.next())
      found.push_back({{row.i64(0)},
                       row.text(1),
                       row.text(2),
                       std::string(word(kTechniques, row.i64(3))),
                       row.i64(4),
                       row.u32(5),
                       row.u32(6),
                       row.u32(7),
                       row.u32(8),
                       row.u32(9)});
    return found;
  });
}

Result<std::vector<StoredPair>> selection_pairs(Database& database, const PairFilter& filter) {
  return guarded(database, [&](Connection& connection) -> Result<std::vector<StoredPair>> {
    std::vector<StoredPair> found;
    Query row(
        connection,
        "SELECT p.selection, p.ordinal, a.variable_name, a.function_name, a.file, a.line, a.column, a.mode, "
        "a.impacted, b.function_name, b.file, b.line, b.column, b.mode, b.impacted, "
        "CASE WHEN a.impacted THEN a.rule ELSE b.rule END, CASE WHEN a.impacted THEN a.cause ELSE b.cause "
        "END, "
        "p.covered FROM selection_pair p "
        "JOIN selection_access a ON a.selection = p.selection AND a.ordinal = p.first "
        "JOIN selection_access b ON b.selection = p.selection AND b.ordinal = p.second "
        "WHERE p.selection = CASE WHEN ?1 > 0 THEN ?1 ELSE "
        "(SELECT id FROM selection ORDER BY created_at DESC, id DESC LIMIT 1) END "
        "AND (?2 = 0 OR p.covered = 0) ORDER BY p.ordinal LIMIT ?3",
        filter.selection ? filter.selection->value : 0, filter.uncovered_only, filter.limit);
    while (row.next())
      found.push_back({{row.i64(0)},
                       row.u32(1),
                       row.text(2),
                       read_access(row, 3),
                       read_access(row, 9),
                       std::string(word(kRules, row.i64(15))),
                       row.text(16),
                       row.flag(17)});
    return found;
  });
}

}  // namespace simrt::history
