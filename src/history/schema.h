// Schema version of an open handle and its migration. Internal to the layer.
#pragma once

#include <SQLiteCpp/Database.h>

#include <filesystem>

namespace simrt::history {

/// Marks a SQLite file as a history; set by the first migration.
inline constexpr int kApplicationId = 1397571154;

/// 0 for an empty database. Throws Failure when the file holds something that is not a history, or a newer
/// one.
int checked_schema_version(SQLite::Database& handle, const std::filesystem::path& file);

/// Applies what is missing, one transaction a migration. Safe when two processes migrate at once.
void migrate(SQLite::Database& handle, const std::filesystem::path& file);

}  // namespace simrt::history
