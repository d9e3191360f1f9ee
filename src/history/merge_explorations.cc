#include "history/merge_explorations.h"

#include <limits>
#include <map>
#include <utility>

#include "history/query.h"

namespace simrt::history {
namespace {

/// Start and uid of the run that explored the test last, which decides what is known of it: a total order, so
/// that the order of merges does not matter. Least when none did.
std::pair<std::int64_t, std::int64_t> newest(Connection& connection, std::int64_t test) {
  Query row(connection,
            "SELECT c.started_at, c.uid FROM exploration e JOIN check_run c ON c.id = e.check_run "
            "WHERE e.test = ? ORDER BY c.started_at DESC, c.uid DESC LIMIT 1",
            test);
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  return row.next() ? std::pair(row.i64(0), row.i64(1)) : std::pair(kNever, kNever);
}

struct MergedTest {
  std::int64_t row = 0;
  bool newer = false;  // what the source knows of it replaces what the target does
};

std::map<std::int64_t, MergedTest> merge_tests(Connection& from, Connection& to) {
  std::map<std::int64_t, MergedTest> tests;
  for (Query row(from, "SELECT id, name FROM explored_test ORDER BY id"); row.next();) {
    Query(to, "INSERT OR IGNORE INTO explored_test(name) VALUES (?)", row.text(1)).run();
    Query known(to, "SELECT id FROM explored_test WHERE name = ?", row.text(1));
    known.next();
    const std::int64_t target = known.i64(0);
    tests[row.i64(0)] = {target, newest(from, row.i64(0)) > newest(to, target)};
  }
  return tests;
}

RowMap merge_records(Connection& from, Connection& to, const RowMap& runs,
                     const std::map<std::int64_t, MergedTest>& tests, MergeReport& report) {
  RowMap explorations("an exploration");
  Query row(
      from,
      "SELECT id, check_run, test, strategy, executable, executions, failed, first_failure, ended, settled, "
      "complete, covered, total, feasible, impacted_covered, impacted_feasible, method_pairs, "
      "predecessor_pairs, settled_by FROM exploration ORDER BY id");
  while (row.next()) {
    const std::int64_t run = runs.at(row.i64(1)), test = tests.at(row.i64(2)).row;
    Query known(to, "SELECT id FROM exploration WHERE check_run = ? AND test = ?", run, test);
    if (known.next()) {
      explorations.add(row.i64(0), known.i64(0));
      continue;
    }
    Query(to,
          "INSERT INTO exploration(check_run, test, strategy, executable, executions, failed, first_failure, "
          "ended, settled, complete, covered, total, feasible, impacted_covered, impacted_feasible, "
          "method_pairs, predecessor_pairs, settled_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
          "?, ?, ?)",
          run, test, row.text(3), row.i64(4), row.i64(5), row.i64(6), row.i64(7), row.text(8), row.i64(9),
          row.i64(10), row.i64(11), row.real(12), row.i64(13), row.i64(14), row.i64(15), row.i64(16),
          row.i64(17), row.text(18))
        .run();
    explorations.add(row.i64(0), last_row(to));
    ++report.explorations;
  }
  return explorations;
}

/// Lines and columns are for people: any of the two will do, but the same one whatever the order.
RowMap merge_sites(Connection& from, Connection& to) {
  RowMap sites("a site");
  sites.add(0, 0);
  for (Query row(from, "SELECT id, site, function, file, line, column FROM interleaving_site ORDER BY id");
       row.next();) {
    Query(to,
          "INSERT INTO interleaving_site(site, function, file, line, column) VALUES (?, ?, ?, ?, ?) "
          "ON CONFLICT(site) DO UPDATE SET function = excluded.function, file = excluded.file, "
          "line = excluded.line, column = excluded.column WHERE (excluded.file, excluded.line, "
          "excluded.column, excluded.function) > (file, line, column, function)",
          row.i64(1), row.text(2), row.text(3), row.i64(4), row.i64(5))
        .run();
    Query known(to, "SELECT id FROM interleaving_site WHERE site = ?", row.i64(1));
    known.next();
    sites.add(row.i64(0), known.i64(0));
  }
  return sites;
}

void drop_known(Connection& to, std::int64_t test) {
  Query(to, "DELETE FROM pattern_instance WHERE test = ?", test).run();
  Query(to, "DELETE FROM predecessor WHERE test = ?", test).run();
  Query(to, "DELETE FROM method_pair WHERE test = ?", test).run();
}

void add_known(Connection& from, Connection& to, std::int64_t source, std::int64_t test, const RowMap& sites,
               const RowMap& explorations) {
  for (Query row(from,
                 "SELECT pattern, site1, site2, site3, site4, covered, exploration FROM pattern_instance "
                 "WHERE test = ?",
                 source);
       row.next();)
    Query(to,
          "INSERT INTO pattern_instance(test, pattern, site1, site2, site3, site4, covered, exploration) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
          test, row.i64(0), sites.at(row.i64(1)), sites.at(row.i64(2)), sites.at(row.i64(3)),
          sites.at(row.i64(4)), row.i64(5), explorations.at(row.i64(6)))
        .run();
  for (Query row(
           from,
           "SELECT after_site, after_context, before_site, before_context FROM predecessor WHERE test = ?",
           source);
       row.next();)
    Query(to,
          "INSERT INTO predecessor(test, after_site, after_context, before_site, before_context) "
          "VALUES (?, ?, ?, ?, ?)",
          test, sites.at(row.i64(0)), row.i64(1), sites.at(row.i64(2)), row.i64(3))
        .run();
  for (Query row(from, "SELECT first, second, executions FROM method_pair WHERE test = ?", source);
       row.next();)
    Query(to, "INSERT INTO method_pair(test, first, second, executions) VALUES (?, ?, ?, ?)", test,
          row.text(0), row.text(1), row.i64(2))
        .run();
}

}  // namespace

void merge_explorations(Connection& from, Connection& to, const RowMap& runs, MergeReport& report) {
  const auto tests = merge_tests(from, to);
  const RowMap explorations = merge_records(from, to, runs, tests, report);
  const RowMap sites = merge_sites(from, to);
  for (const auto& [source, merged] : tests) {
    if (!merged.newer) continue;
    drop_known(to, merged.row);
    add_known(from, to, source, merged.row, sites, explorations);
  }
}

}  // namespace simrt::history
