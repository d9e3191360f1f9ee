#include "history/stats.h"

#include "history/failure.h"
#include "history/query.h"

namespace simrt::history {
namespace {

std::uint64_t number(Connection& connection, std::string_view sql) {
  Query row(connection, sql);
  return row.next() ? row.u64(0) : 0;
}

double ratio(std::uint64_t bytes, std::uint64_t count) {
  return count == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(count);
}

}  // namespace

Result<Stats> stats(Database& database) {
  return guarded(database, [](Connection& connection) -> Result<Stats> {
    const auto get = [&](std::string_view sql) { return number(connection, sql); };
    Stats result;
    const std::uint64_t page = get("PRAGMA page_size");
    result.file_bytes = get("PRAGMA page_count") * page;
    result.free_bytes = get("PRAGMA freelist_count") * page;
    result.environments = get("SELECT count(*) FROM environment");
    result.revisions = get("SELECT count(*) FROM revision");
    result.units = get("SELECT count(*) FROM unit");
    result.functions = get("SELECT count(DISTINCT function) FROM function_version");
    result.function_versions = get("SELECT count(*) FROM function_version");
    result.variables = get("SELECT count(*) FROM variable_version");
    result.blocks = get("SELECT coalesce(sum(span), 0) FROM block_range");
    result.tests = get("SELECT count(*) FROM test");
    result.runs = get("SELECT count(*) FROM run WHERE finished_at <> 0");
    result.coverages = get("SELECT count(*) FROM coverage");
    result.selections = get("SELECT count(*) FROM selection");
    result.mappings = get("SELECT count(*) FROM module_mapping");
    result.facts_bytes = get("SELECT coalesce(sum(length(facts)), 0) FROM function_version") +
                         get("SELECT coalesce(sum(length(facts)), 0) FROM variable_version");
    result.points_bytes = get("SELECT coalesce(sum(length(points)), 0) FROM function_points");
    result.coverage_bytes = get("SELECT coalesce(sum(length(coverage)), 0) FROM coverage");
    result.mapping_bytes = get("SELECT coalesce(sum(length(mapping)), 0) FROM module_mapping");
    result.bytes_per_run =
        ratio(result.coverage_bytes, get("SELECT count(*) FROM run WHERE coverage IS NOT NULL"));
    result.bytes_per_test = ratio(result.coverage_bytes, result.tests);
    result.bytes_per_block = ratio(result.facts_bytes + result.points_bytes, result.blocks);
    return result;
  });
}

}  // namespace simrt::history
