#include "history/merge_runs.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "history/block_ranges.h"
#include "history/coverage_codec.h"
#include "history/query.h"
#include "history/run_rows.h"

namespace simrt::history {
namespace {

/// Block numbers of the source -> numbers of the target.
class NumberMap {
 public:
  NumberMap(Connection& from, Connection& to) {
    RangeTable table(to);
    for (Query row(from, "SELECT base, function, body, span FROM block_range ORDER BY base"); row.next();) {
      const BlockNumber base = row.u32(0);
      const std::uint32_t span = row.u32(3);
      ranges_.push_back({base, span, table.find_or_assign({row.u64(1)}, row.u64(2), span)});
    }
  }

  BlockSet translate(const BlockSet& blocks) const {
    std::vector<BlockNumber> numbers;
    numbers.reserve(blocks.cardinality());
    auto range = ranges_.begin();
    for (const BlockNumber number : blocks) {
      while (range != ranges_.end() && number >= range->base + range->span) ++range;
      if (range == ranges_.end() || number < range->base)
        throw Failure{{ErrorCode::History, "the history to merge is damaged: coverage of an unknown block",
                       "merge an undamaged copy of it"}};
      numbers.push_back(range->target + (number - range->base));
    }
    BlockSet translated;
    translated.addMany(numbers.size(), numbers.data());
    return translated;
  }

 private:
  struct Range {
    BlockNumber base;
    std::uint32_t span;
    BlockNumber target;
  };
  std::vector<Range> ranges_;  ///< ascending base
};

/// Copies coverage on demand: only what some new run refers to.
class CoverageCopier {
 public:
  CoverageCopier(Connection& from, Connection& to, MergeReport& report)
      : to_(to),
        report_(report),
        numbers_(from, to),
        read_(from, "SELECT coverage FROM coverage WHERE id = ?") {}

  std::int64_t copy(std::int64_t id) {
    auto [known, fresh] = known_.try_emplace(id);
    if (!fresh) return known->second;
    read_.again();
    read_.bind(id);
    if (!read_.next()) RowMap("coverage").at(id);  // throws: the row is missing
    Result<TestCoverage> coverage = decode_coverage(read_.bytes(0));
    if (!coverage) throw Failure{coverage.error()};
    for (ThreadCoverage& thread : coverage->single) thread.blocks = numbers_.translate(thread.blocks);
    coverage->several = numbers_.translate(coverage->several);
    Query before(to_, "SELECT coalesce(max(id), 0) FROM coverage");
    before.next();
    known->second = store_coverage(to_, *coverage);
    report_.coverages += known->second > before.i64(0);
    return known->second;
  }

 private:
  Connection& to_;
  MergeReport& report_;
  NumberMap numbers_;
  Query read_;
  std::unordered_map<std::int64_t, std::int64_t> known_;
};

RowMap merge_tests(Connection& from, Connection& to, MergeReport& report) {
  for (Query row(from, "SELECT id, name FROM test ORDER BY id"); row.next();) {
    Query(to, "INSERT OR IGNORE INTO test(id, name) VALUES (?, ?)", row.i64(0), row.text(1)).run();
    report.tests += static_cast<std::uint32_t>(changes(to));
  }
  RowMap cases("a test's definition");
  for (Query row(from, "SELECT id, test, hash, definition FROM test_case ORDER BY id"); row.next();) {
    Query(to, "INSERT OR IGNORE INTO test_case(test, hash, definition) VALUES (?, ?, ?)", row.i64(1),
          row.i64(2), Blob{row.bytes(3)})
        .run();
    Query known(to, "SELECT id FROM test_case WHERE hash = ?", row.i64(2));
    known.next();
    cases.add(row.i64(0), known.i64(0));
  }
  return cases;
}

/// Copies the rows of a table that belongs to one selection; the first column is the selection.
void copy_children(Connection& from, Connection& to, std::string_view read, std::string_view write,
                   std::int64_t source, std::int64_t target) {
  Query row(from, read, source);
  Query insert(to, write);
  while (row.next()) {
    insert.bind(target);
    insert.copy_columns(row, 2);
    insert.run();
  }
}

/// The later change of a suite counts; of two at the same time the one that keeps the test.
void merge_suite_changes(Connection& from, Connection& to, const RowMap& revisions) {
  for (Query row(from, "SELECT revision, test, since, present FROM suite_change ORDER BY revision, test");
       row.next();)
    Query(to,
          "INSERT INTO suite_change(revision, test, since, present) VALUES (?, ?, ?, ?) "
          "ON CONFLICT(revision, test) DO UPDATE SET since = excluded.since, present = excluded.present "
          "WHERE (excluded.since, excluded.present) > (suite_change.since, suite_change.present)",
          revisions.at(row.i64(0)), row.i64(1), row.i64(2), row.i64(3))
        .run();
}

}  // namespace

void merge_runs(Connection& from, Connection& to, const RowMap& revisions, MergeReport& report) {
  const RowMap cases = merge_tests(from, to, report);
  CoverageCopier coverage(from, to, report);
  Query insert(
      to,
      "INSERT INTO run(uid, revision, test, test_case, finished_at, outcome, exit_code, seconds, executable, "
      "reused, notes, coverage) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Query row(from,
            "SELECT uid, revision, test, test_case, finished_at, outcome, exit_code, seconds, executable, "
            "reused, notes, "
            "coverage FROM run ORDER BY id");
  while (row.next()) {
    if (Query(to, "SELECT 1 FROM run WHERE uid = ?", row.i64(0)).next()) continue;
    const bool announced = row.i64(4) == 0;
    if (announced &&
        Query(to, "SELECT 1 FROM run WHERE revision = ? AND test = ?", revisions.at(row.i64(1)), row.i64(2))
            .next())
      continue;
    const auto bind = [&](auto covered) {
      insert.bind(row.i64(0), revisions.at(row.i64(1)), row.i64(2), cases.at(row.i64(3)), row.i64(4),
                  row.i64(5), row.i64(6), row.real(7), row.i64(8), row.i64(9), Blob{row.bytes(10)}, covered);
    };
    if (row.null(11))
      bind(nullptr);
    else
      bind(coverage.copy(row.i64(11)));
    insert.run();
    ++report.runs;
  }
  drop_answered_announcements(to);
  merge_suite_changes(from, to, revisions);
}

void merge_selections(Connection& from, Connection& to, const RowMap& revisions, MergeReport& report) {
  Query row(from,
            "SELECT id, uid, base, head, technique, created_at, tests, selected, pairs, uncovered, unknowns "
            "FROM selection ORDER BY id");
  while (row.next()) {
    if (Query(to, "SELECT 1 FROM selection WHERE uid = ?", row.i64(1)).next()) continue;
    Query(to,
          "INSERT INTO selection(uid, base, head, technique, created_at, tests, selected, pairs, uncovered, "
          "unknowns) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          row.i64(1), revisions.at(row.i64(2)), row.text(3), row.i64(4), row.i64(5), row.i64(6), row.i64(7),
          row.i64(8), row.i64(9), row.i64(10))
        .run();
    const std::int64_t id = last_row(to);
    copy_children(
        from, to,
        "SELECT ordinal, function, function_name, variable, variable_name, file, line, column, mode, "
        "impacted, rule, cause FROM selection_access WHERE selection = ?",
        "INSERT INTO selection_access(selection, ordinal, function, function_name, variable, variable_name, "
        "file, line, column, mode, impacted, rule, cause) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row.i64(0), id);
    copy_children(
        from, to, "SELECT ordinal, first, second, covered FROM selection_pair WHERE selection = ?",
        "INSERT INTO selection_pair(selection, ordinal, first, second, covered) VALUES (?, ?, ?, ?, ?)",
        row.i64(0), id);
    copy_children(
        from, to,
        "SELECT test, rank, run, tier, new_pairs, pairs, seconds, reason FROM selection_decision "
        "WHERE selection = ?",
        "INSERT INTO selection_decision(selection, test, rank, run, tier, new_pairs, pairs, seconds, reason) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row.i64(0), id);
    ++report.selections;
  }
}

}  // namespace simrt::history
