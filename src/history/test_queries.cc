#include "history/test_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "history/block_ranges.h"
#include "history/coverage_codec.h"
#include "history/facts_codec.h"
#include "history/failure.h"
#include "history/links.h"
#include "history/range_counts.h"
#include "history/run_store.h"
#include "history/version_reader.h"

namespace simrt::history {
namespace {

std::string_view without_parameters(std::string_view name) {
  // The first parenthesis may belong to "operator()" or "(anonymous namespace)"; the last group is the
  // parameters.
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i + 1 < name.size() && i > 0 ? name.substr(0, i) : name;
    if (depth == 0 && (name[i] == ':' || i == 0)) break;
  }
  return name;
}

bool matches(std::string_view name, std::string_view wanted) {
  for (const std::string_view candidate : {name, without_parameters(name)}) {
    if (candidate == wanted) return true;
    if (candidate.size() > wanted.size() + 2 && candidate.ends_with(wanted) &&
        candidate.substr(candidate.size() - wanted.size() - 2, 2) == "::")
      return true;
  }
  return false;
}

/// Collects the blocks of functions that `keep` accepts; `select` names the ordinals of one function.
class PlaceFinder {
 public:
  PlaceFinder(Connection& connection, RevisionId revision)
      : connection_(connection),
        reader_(connection),
        functions_(united_functions(connection, revision, reader_)) {}

  const std::vector<UnitedFunction>& functions() const { return functions_; }
  FunctionReader& reader() { return reader_; }
  FunctionFacts facts(const UnitedFunction& function) {
    FunctionFacts facts = reader_.read(function.link);
    facts.id = function.id;
    return facts;
  }
  std::optional<BlockNumber> base(const FunctionFacts& facts) {
    return find_range(connection_, facts.id, facts.body, block_span(facts));
  }
  std::vector<std::uint32_t> ordinals_on_line(const UnitedFunction& function, std::uint32_t line) {
    Query row(connection_, "SELECT points FROM function_points WHERE version = ?", function.link.version);
    FunctionPoints points;
    if (!row.next()) return {};
    if (Status done = decode_points(row.bytes(0), function.link.line, points); !done)
      throw Failure{done.error()};
    std::vector<std::uint32_t> ordinals;
    for (const BlockPoints& block : points.blocks)
      if (std::any_of(block.points.begin(), block.points.end(),
                      [&](const SourcePoint& point) { return point.line == line; }))
        ordinals.push_back(block.ordinal);
    return ordinals;
  }

 private:
  Connection& connection_;
  FunctionReader reader_;
  std::vector<UnitedFunction> functions_;
};

void add_all(PlaceBlocks& place, const FunctionFacts& facts, std::optional<BlockNumber> base) {
  if (!base) return;
  for (const Block& block : facts.blocks) place.blocks.add(*base + block.ordinal);
}

void sort_names(PlaceBlocks& place) {
  std::sort(place.functions.begin(), place.functions.end());
  place.functions.erase(std::unique(place.functions.begin(), place.functions.end()), place.functions.end());
}

/// Threads of `coverage` seen in `blocks`.
std::uint32_t threads_at(const TestCoverage& coverage, const BlockSet& blocks) {
  std::uint32_t threads = 0;
  for (const ThreadCoverage& thread : coverage.single) threads += thread.blocks.intersect(blocks);
  return coverage.several.intersect(blocks) ? std::max<std::uint32_t>(threads, 2) : threads;
}

std::vector<RangeBounds> all_ranges(Connection& connection) {
  std::vector<RangeBounds> ranges;
  for (Query row(connection, "SELECT base, span FROM block_range ORDER BY base"); row.next();)
    ranges.push_back({row.u32(0), row.u32(1)});
  return ranges;
}

/// Names of ranges at a revision: FunctionId (variants included) -> version.
class RangeNames {
 public:
  RangeNames(Connection& connection, RevisionId revision)
      : reader_(connection),
        range_(connection, "SELECT function, span FROM block_range WHERE base = ?"),
        any_(connection,
             "SELECT name, file FROM function_version WHERE function = ? ORDER BY id DESC LIMIT 1") {
    for (const UnitedFunction& function : united_functions(connection, revision, reader_))
      versions_[function.id] = function.link.version;
  }
  void fill(BlockNumber base, FunctionCoverage& function) {
    range_.again();
    range_.bind(base);
    if (!range_.next()) return;
    const FunctionId id{range_.u64(0)};
    function.total = range_.u32(1);
    if (const auto found = versions_.find(id); found != versions_.end()) {
      function.function = reader_.name(found->second);
      function.file = reader_.file(found->second);
      return;
    }
    any_.again();
    any_.bind(id.value);
    function.function = any_.next() ? any_.text(0) : "?";
    function.file = function.function == "?" ? std::string() : any_.text(1);
  }

 private:
  FunctionReader reader_;
  Query range_, any_;
  std::unordered_map<FunctionId, std::int64_t> versions_;
};

void add_thread(std::map<BlockNumber, FunctionCoverage>& functions, const std::string& role,
                const BlockSet& blocks, const std::vector<RangeBounds>& ranges) {
  for (const RangeCount& count : count_by_range(blocks, ranges)) {
    FunctionCoverage& function = functions[count.base];
    function.covered += count.blocks;
    function.threads.emplace_back(role, count.blocks);
  }
}

}  // namespace

Result<PlaceBlocks> blocks_at_line(Database& database, RevisionId revision, const std::string& file,
                                   std::uint32_t line) {
  return guarded(database, [&](Connection& connection) -> Result<PlaceBlocks> {
    PlaceFinder finder(connection, revision);
    PlaceBlocks exact, around;
    exact.exact = true;
    for (const UnitedFunction& function : finder.functions()) {
      if (function.link.line > line || finder.reader().file(function.link.version) != file) continue;
      const FunctionFacts facts = finder.facts(function);
      if (facts.end_line < line) continue;
      const auto base = finder.base(facts);
      around.functions.push_back(facts.name);
      add_all(around, facts, base);
      const std::vector<std::uint32_t> ordinals = finder.ordinals_on_line(function, line);
      if (ordinals.empty()) continue;
      exact.functions.push_back(facts.name);
      for (const std::uint32_t ordinal : ordinals)
        if (base) exact.blocks.add(*base + ordinal);
    }
    PlaceBlocks place = exact.functions.empty() ? std::move(around) : std::move(exact);
    sort_names(place);
    return place;
  });
}

Result<PlaceBlocks> blocks_of_function(Database& database, RevisionId revision, const std::string& name) {
  return guarded(database, [&](Connection& connection) -> Result<PlaceBlocks> {
    PlaceFinder finder(connection, revision);
    PlaceBlocks place;
    place.exact = true;
    for (const UnitedFunction& function : finder.functions()) {
      if (!matches(finder.reader().name(function.link.version), name)) continue;
      const FunctionFacts facts = finder.facts(function);
      place.functions.push_back(facts.name);
      add_all(place, facts, finder.base(facts));
    }
    sort_names(place);
    return place;
  });
}

Result<std::vector<CoveringTest>> tests_covering(Database& database, RevisionId revision,
                                                 const BlockSet& blocks, std::uint32_t threads) {
  Result<std::vector<RecordedRun>> recorded = recorded_tests(database, revision);
  if (!recorded) return fail(recorded.error());
  std::vector<CoveringTest> tests;
  for (const RecordedRun& run : *recorded) {
    const std::uint32_t seen = threads_at(run.last.coverage, blocks);
    if (seen == 0 || seen < threads) continue;
    const auto covered = static_cast<std::uint32_t>(run.last.coverage.all().and_cardinality(blocks));
    tests.push_back({run.test.name, seen, covered, run.last.outcome, run.last.seconds});
  }
  return tests;
}

Result<CoverageReport> coverage_of_test(Database& database, RevisionId revision, TestId test) {
  return guarded(database, [&](Connection& connection) -> Result<CoverageReport> {
    Query row(connection,
              "SELECT c.coverage FROM run x LEFT JOIN coverage c ON c.id = x.coverage "
              "WHERE x.revision = ? AND x.test = ? ORDER BY x.finished_at DESC, x.id DESC LIMIT 1",
              revision.value, test.value);
    if (!row.next())
      return fail(ErrorCode::Usage, "this test was not recorded at this revision",
                  "`simrt history sql \"SELECT test FROM v_tests\"` lists the recorded tests");
    CoverageReport report;
    if (row.null(0)) return report;
    Result<TestCoverage> coverage = decode_coverage(row.bytes(0));
    if (!coverage) return fail(coverage.error());
    report.has_coverage = true;
    report.threads = coverage->threads;
    report.blocks = coverage->all().cardinality();
    const std::vector<RangeBounds> ranges = all_ranges(connection);
    std::map<BlockNumber, FunctionCoverage> functions;
    for (const ThreadCoverage& thread : coverage->single)
      add_thread(functions, thread.role, thread.blocks, ranges);
    add_thread(functions, "several", coverage->several, ranges);
    RangeNames names(connection, revision);
    for (auto& [base, function] : functions) {
      names.fill(base, function);
      report.functions.push_back(std::move(function));
    }
    std::stable_sort(report.functions.begin(), report.functions.end(),
                     [](const FunctionCoverage& a, const FunctionCoverage& b) {
                       return std::tie(a.file, a.function) < std::tie(b.file, b.function);
                     });
    return report;
  });
}

Result<std::vector<RunRow>> runs(Database& database, const std::string& test, std::uint32_t limit) {
  return guarded(database, [&](Connection& connection) -> Result<std::vector<RunRow>> {
    std::vector<RunRow> found;
    const std::string sql = fmt::format(
        "SELECT x.id, t.name, r.sha, e.key, x.finished_at, x.outcome, x.exit_code, x.seconds, x.reused, "
        "c.threads, "
        "c.blocks, x.notes FROM run x JOIN test t ON t.id = x.test JOIN revision r ON r.id = x.revision "
        "JOIN environment e ON e.id = r.environment LEFT JOIN coverage c ON c.id = x.coverage {} "
        "ORDER BY x.finished_at DESC, x.id DESC LIMIT ?2",
        test.empty() ? "WHERE ?1 = 0 AND x.finished_at <> 0" : "WHERE x.test = ?1 AND x.finished_at <> 0");
    Query row(connection, sql, test.empty() ? 0 : test_id(test).value, limit);
    while (row.next())
      found.push_back({{row.i64(0)},
                       row.text(1),
                       row.text(2),
                       row.text(3),
                       row.i64(4),
                       static_cast<Outcome>(row.i64(5)),
                       static_cast<int>(row.i64(6)),
                       row.real(7),
                       row.flag(8),
                       row.u32(9),
                       row.u32(10),
                       unpack_texts(row.bytes(11))});
    return found;
  });
}

Result<std::vector<TestTiming>> slow_tests(Database& database, std::uint32_t limit) {
  return guarded(database, [&](Connection& connection) -> Result<std::vector<TestTiming>> {
    std::vector<TestTiming> found;
    Query row(connection,
              "SELECT t.name, count(*), avg(x.seconds), max(x.seconds), (SELECT y.seconds FROM run y "
              "WHERE y.test = t.id AND y.reused = 0 ORDER BY y.finished_at DESC, y.id DESC LIMIT 1) "
              "FROM run x JOIN test t ON t.id = x.test WHERE x.reused = 0 AND x.outcome NOT IN (4, 5) "
              "GROUP BY t.id ORDER BY 3 DESC, 1 LIMIT ?",
              limit);
    while (row.next()) found.push_back({row.text(0), row.u32(1), row.real(2), row.real(3), row.real(4)});
    return found;
  });
}

Result<std::vector<FlakyTest>> flaky_tests(Database& database) {
  return guarded(database, [](Connection& connection) -> Result<std::vector<FlakyTest>> {
    std::vector<FlakyTest> found;
    Query row(
        connection,
        "SELECT t.name, x.executable, e.key, sum(x.outcome = 0) AS good, sum(x.outcome IN (1, 2, 3)) AS bad, "
        "max(x.finished_at) FROM run x JOIN test t ON t.id = x.test JOIN revision r ON r.id = x.revision "
        "JOIN environment e ON e.id = r.environment WHERE x.reused = 0 AND x.executable <> 0 "
        "GROUP BY t.id, x.executable, e.id HAVING good > 0 AND bad > 0 ORDER BY min(good, bad) DESC, 1, 2");
    while (row.next())
      found.push_back({row.text(0), row.u64(1), row.text(2), row.u32(3), row.u32(4), row.i64(5)});
    return found;
  });
}

}  // namespace simrt::history
