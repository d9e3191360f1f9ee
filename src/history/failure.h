// Turns what SQLite and the codecs throw into the layer's errors: one clear sentence and the way out.
// Internal to the layer. Exceptions end here; nothing above sees one.
#pragma once

#include <filesystem>
#include <type_traits>

#include "history/database.h"
#include "support/result.h"

namespace simrt::history {

/// Thrown inside the layer to leave nested code with a finished Error.
struct Failure {
  Error error;
};

/// Describes an SQLite result code met while working on `file`. `detail` is SQLite's own message.
Error describe_sqlite(int code, const std::string& detail, const std::filesystem::path& file);
/// Describes the exception being handled; call inside a catch block only.
Error describe_current_exception(const std::filesystem::path& file);

/// Runs `work(connection)` and converts anything it throws.
template <class Work>
std::invoke_result_t<Work&, Connection&> guarded(Database& database, Work work) {
  try {
    return work(database.connection());
  } catch (...) {
    return fail(describe_current_exception(database.path()));
  }
}

/// Like guarded(), in a transaction (or in a savepoint of the caller's).
template <class Work>
std::invoke_result_t<Work&, Connection&> written(Database& database, Work work) {
  return database.transaction([&] { return guarded(database, work); });
}

}  // namespace simrt::history
