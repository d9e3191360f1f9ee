#include "history/sql_functions.h"

#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <sqlite3.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "history/coverage_codec.h"
#include "history/failure.h"
#include "history/links.h"
#include "history/names.h"
#include "history/range_counts.h"

namespace simrt::history {
namespace {

std::string_view blob_argument(sqlite3_value* value) {
  const auto* data = static_cast<const char*>(sqlite3_value_blob(value));
  return data ? std::string_view(data, static_cast<std::size_t>(sqlite3_value_bytes(value)))
              : std::string_view();
}

void answer(sqlite3_context* context, const std::string& text) {
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// Runs `work` and turns what it throws into an error of the query: no exception may pass through SQLite.
template <class Work>
void guard(sqlite3_context* context, Work work) {
  try {
    work();
  } catch (const Failure& failure) {
    sqlite3_result_error(context, failure.error.message.c_str(), -1);
  } catch (const std::exception& exception) {
    sqlite3_result_error(context, exception.what(), -1);
  }
}

void links(sqlite3_context* context, int, sqlite3_value** arguments) {
  guard(context, [&] {
    nlohmann::json list = nlohmann::json::array();
    for (const Link& link : unpack_links(blob_argument(arguments[0])))
      list.push_back({link.version, link.line});
    answer(context, list.dump());
  });
}

/// Where block ranges begin, read once a connection and again when a number lies behind the last known range.
struct RangeCache {
  std::vector<RangeBounds> ranges;

  void load(sqlite3* handle) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(handle, "SELECT base, span FROM block_range ORDER BY base", -1, &statement,
                           nullptr) != SQLITE_OK)
      throw std::runtime_error(sqlite3_errmsg(handle));
    ranges.clear();
    while (sqlite3_step(statement) == SQLITE_ROW)
      ranges.push_back({static_cast<BlockNumber>(sqlite3_column_int64(statement, 0)),
                        static_cast<std::uint32_t>(sqlite3_column_int64(statement, 1))});
    sqlite3_finalize(statement);
  }
  bool reaches(const BlockSet& blocks) const {
    return blocks.isEmpty() ||
           (!ranges.empty() && blocks.maximum() < ranges.back().base + ranges.back().span);
  }
};

void append_counts(nlohmann::json& list, const std::string& thread, const BlockSet& blocks,
                   const RangeCache& cache) {
  for (const RangeCount& count : count_by_range(blocks, cache.ranges))
    list.push_back({thread, count.base, count.blocks});
}

void coverage_functions(sqlite3_context* context, int, sqlite3_value** arguments) {
  guard(context, [&] {
    auto& cache = *static_cast<RangeCache*>(sqlite3_user_data(context));
    Result<TestCoverage> coverage = decode_coverage(blob_argument(arguments[0]));
    if (!coverage) throw Failure{coverage.error()};
    if (!cache.reaches(coverage->all())) cache.load(sqlite3_context_db_handle(context));
    nlohmann::json list = nlohmann::json::array();
    for (const ThreadCoverage& thread : coverage->single)
      append_counts(list, thread.role, thread.blocks, cache);
    append_counts(list, "several", coverage->several, cache);
    answer(context, list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  });
}

template <const auto& Words>
void word_of(sqlite3_context* context, int, sqlite3_value** arguments) {
  answer(context, std::string(word(Words, sqlite3_value_int64(arguments[0]))));
}

using Function = void (*)(sqlite3_context*, int, sqlite3_value**);

void define(SQLite::Database& handle, const char* name, Function function, void* data = nullptr,
            void (*destroy)(void*) = nullptr) {
  // Innocuous: usable from views even where the schema is not trusted; they read nothing but their argument.
  const int code = sqlite3_create_function_v2(handle.getHandle(), name, 1,
                                              SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, data,
                                              function, nullptr, nullptr, destroy);
  if (code != SQLITE_OK) throw SQLite::Exception(handle.getHandle(), code);
}

}  // namespace

void register_sql_functions(SQLite::Database& handle) {
  define(handle, "simrt_links", links);
  define(handle, "simrt_coverage_functions", coverage_functions, new RangeCache,
         [](void* cache) { delete static_cast<RangeCache*>(cache); });
  define(handle, "simrt_outcome", word_of<kOutcomes>);
  define(handle, "simrt_technique", word_of<kTechniques>);
  define(handle, "simrt_mode", word_of<kModes>);
  define(handle, "simrt_rule", word_of<kRules>);
}

}  // namespace simrt::history
