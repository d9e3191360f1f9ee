#include "history/exploration_store.h"

#include <unordered_map>

#include "history/failure.h"
#include "history/query.h"

namespace simrt::history {
namespace {

constexpr const char* kColumns =
    "SELECT t.name, e.strategy, e.ended, e.executable, e.executions, e.failed, e.first_failure, e.settled, "
    "e.complete, e.covered, e.feasible, e.impacted_covered, e.impacted_feasible, e.total, e.method_pairs, "
    "e.predecessor_pairs, c.head, c.started_at, e.settled_by "
    "FROM exploration e JOIN explored_test t ON t.id = e.test JOIN check_run c ON c.id = e.check_run "
    "WHERE (?1 = '' OR t.name = ?1) ORDER BY c.started_at, e.id";

std::int64_t test_row(Connection& connection, const std::string& name) {
  Query(connection, "INSERT OR IGNORE INTO explored_test(name) VALUES (?)", name).run();
  Query row(connection, "SELECT id FROM explored_test WHERE name = ?", name);
  row.next();
  return row.i64(0);
}

ExplorationRecord read_exploration(const Query& row) {
  ExplorationRecord record;
  record.test = row.text(0);
  record.strategy = row.text(1);
  record.ended = row.text(2);
  record.executable = row.u64(3);
  record.executions = row.u64(4);
  record.failed = row.u64(5);
  record.first_failure = row.u64(6);
  record.settled = row.flag(7);
  record.complete = row.flag(8);
  record.covered = row.u64(9);
  record.feasible = row.u64(10);
  record.impacted_covered = row.u64(11);
  record.impacted_feasible = row.u64(12);
  record.total = row.real(13);
  record.method_pairs = row.u64(14);
  record.predecessor_pairs = row.u64(15);
  record.head = row.text(16);
  record.started_at = row.i64(17);
  record.settled_by = row.text(18);
  return record;
}

/// Rows of sites.
class SiteRows {
 public:
  explicit SiteRows(Connection& connection)
      : connection_(connection), find_(connection, "SELECT id FROM interleaving_site WHERE site = ?") {}

  void put(const InterleavingSite& site) {
    Query(connection_,
          "INSERT INTO interleaving_site(site, function, file, line, column) VALUES (?, ?, ?, ?, ?) "
          "ON CONFLICT(site) DO UPDATE SET function = excluded.function, file = excluded.file, "
          "line = excluded.line, column = excluded.column",
          site.site.value, site.function, site.file, site.line, site.column)
        .run();
  }
  std::int64_t row(SiteId site) {
    if (!site) return 0;
    auto [known, fresh] = rows_.try_emplace(site.value, 0);
    if (!fresh) return known->second;
    find_.again();
    find_.bind(site.value);
    if (!find_.next())
      throw Failure{{ErrorCode::Internal, "a site was named before it was kept", "report it"}};
    return known->second = find_.i64(0);
  }

 private:
  Connection& connection_;
  Query find_;
  std::unordered_map<std::uint64_t, std::int64_t> rows_;
};

std::int64_t put_record(Connection& connection, CheckRunId run, std::int64_t test,
                        const ExplorationRecord& record) {
  Query(connection,
        "INSERT OR REPLACE INTO exploration(check_run, test, strategy, executable, executions, failed, "
        "first_failure, "
        "ended, settled, complete, covered, total, feasible, impacted_covered, impacted_feasible, "
        "method_pairs, "
        "predecessor_pairs, settled_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        run.value, test, record.strategy, record.executable, record.executions, record.failed,
        record.first_failure, record.ended, record.settled, record.complete, record.covered, record.total,
        record.feasible, record.impacted_covered, record.impacted_feasible, record.method_pairs,
        record.predecessor_pairs, record.settled_by)
      .run();
  return last_row(connection);
}

void put_known(Connection& connection, std::int64_t test, std::int64_t exploration,
               const Interleavings& known) {
  SiteRows sites(connection);
  for (const InterleavingSite& site : known.sites) sites.put(site);
  Query(connection, "DELETE FROM pattern_instance WHERE test = ?", test).run();
  Query(connection, "DELETE FROM predecessor WHERE test = ?", test).run();
  Query(connection, "DELETE FROM method_pair WHERE test = ?", test).run();
  Query instance(
      connection,
      "INSERT OR REPLACE INTO pattern_instance(test, pattern, site1, site2, site3, site4, covered, "
      "exploration) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  for (const StoredInstance& each : known.instances) {
    instance.bind(test, each.pattern, sites.row(each.sites[0]), sites.row(each.sites[1]),
                  sites.row(each.sites[2]), sites.row(each.sites[3]), each.covered, exploration);
    instance.run();
  }
  Query order(
      connection,
      "INSERT OR REPLACE INTO predecessor(test, after_site, after_context, before_site, before_context) "
      "VALUES (?, ?, ?, ?, ?)");
  for (const StoredOrder& each : known.orders) {
    order.bind(test, sites.row(each.after), each.after_context, sites.row(each.before), each.before_context);
    order.run();
  }
  Query pair(connection,
             "INSERT OR REPLACE INTO method_pair(test, first, second, executions) VALUES (?, ?, ?, ?)");
  for (const StoredMethodPair& each : known.method_pairs) {
    pair.bind(test, each.first, each.second, each.executions);
    pair.run();
  }
}

}  // namespace

Status put_exploration(Database& database, CheckRunId run, const ExplorationRecord& record,
                       const Interleavings& known) {
  return written(database, [&](Connection& connection) -> Status {
    const std::int64_t test = test_row(connection, record.test);
    put_known(connection, test, put_record(connection, run, test, record), known);
    return {};
  });
}

Result<Interleavings> interleavings_of(Database& database, const std::string& test) {
  return guarded(database, [&](Connection& connection) -> Result<Interleavings> {
    Interleavings known;
    std::unordered_map<std::int64_t, SiteId> site_of = {{0, SiteId{}}};
    Query sites(
        connection,
        "SELECT id, site, function, file, line, column FROM interleaving_site WHERE id IN ("
        "SELECT site1 FROM pattern_instance p JOIN explored_test t ON t.id = p.test WHERE t.name = ?1 UNION "
        "SELECT site2 FROM pattern_instance p JOIN explored_test t ON t.id = p.test WHERE t.name = ?1 UNION "
        "SELECT site3 FROM pattern_instance p JOIN explored_test t ON t.id = p.test WHERE t.name = ?1 UNION "
        "SELECT site4 FROM pattern_instance p JOIN explored_test t ON t.id = p.test WHERE t.name = ?1 UNION "
        "SELECT after_site FROM predecessor p JOIN explored_test t ON t.id = p.test WHERE t.name = ?1 UNION "
        "SELECT before_site FROM predecessor p JOIN explored_test t ON t.id = p.test WHERE t.name = ?1) "
        "ORDER BY site",
        test);
    while (sites.next()) {
      const SiteId site{sites.u64(1)};
      site_of[sites.i64(0)] = site;
      known.sites.push_back({site, sites.text(2), sites.text(3), sites.u32(4), sites.u32(5)});
    }
    Query instances(connection,
                    "SELECT pattern, site1, site2, site3, site4, covered FROM pattern_instance p "
                    "JOIN explored_test t ON t.id = p.test WHERE t.name = ? "
                    "ORDER BY pattern, site1, site2, site3, site4",
                    test);
    while (instances.next())
      known.instances.push_back({static_cast<std::uint8_t>(instances.i64(0)),
                                 {site_of[instances.i64(1)], site_of[instances.i64(2)],
                                  site_of[instances.i64(3)], site_of[instances.i64(4)]},
                                 instances.flag(5)});
    Query orders(connection,
                 "SELECT after_site, after_context, before_site, before_context FROM predecessor p "
                 "JOIN explored_test t ON t.id = p.test WHERE t.name = ? ORDER BY 1, 2, 3, 4",
                 test);
    while (orders.next())
      known.orders.push_back({site_of[orders.i64(0)], orders.u64(1), site_of[orders.i64(2)], orders.u64(3)});
    Query pairs(connection,
                "SELECT first, second, executions FROM method_pair m JOIN explored_test t ON t.id = m.test "
                "WHERE t.name = ? ORDER BY first, second",
                test);
    while (pairs.next()) known.method_pairs.push_back({pairs.text(0), pairs.text(1), pairs.u64(2)});
    return known;
  });
}

Result<std::vector<ExplorationRecord>> explorations_of(Database& database, const std::string& test) {
  return guarded(database, [&](Connection& connection) -> Result<std::vector<ExplorationRecord>> {
    std::vector<ExplorationRecord> all;
    Query rows(connection, kColumns, test);
    while (rows.next()) all.push_back(read_exploration(rows));
    return all;
  });
}

Result<std::optional<ExplorationRecord>> last_exploration(Database& database, const std::string& test) {
  auto all = explorations_of(database, test);
  if (!all) return fail(all.error());
  return all->empty() || test.empty() ? std::optional<ExplorationRecord>()
                                      : std::optional(std::move(all->back()));
}

}  // namespace simrt::history
