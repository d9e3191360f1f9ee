// The simrt_* functions of the documented views. Internal to the layer.
#pragma once

#include <SQLiteCpp/Database.h>

namespace simrt::history {

/// Defines on this connection:
///   simrt_links(blob)               -> JSON [[version, line], ...]
///   simrt_coverage_functions(blob)  -> JSON [[thread, base of the block range, blocks covered], ...]
///   simrt_outcome, simrt_technique, simrt_mode, simrt_rule (integer) -> word
/// A blob that cannot be read is an error of the query. Throws SQLite::Exception.
void register_sql_functions(SQLite::Database& handle);

}  // namespace simrt::history
