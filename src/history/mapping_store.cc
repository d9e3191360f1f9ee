#include "history/mapping_store.h"

#include "history/blob_frame.h"
#include "history/failure.h"
#include "history/query.h"

namespace simrt::history {
namespace {
constexpr std::uint8_t kEnvelope = 1;
}

Status put_mapping(Database& database, const std::string& key, std::string_view mapping, std::int64_t now) {
  return written(database, [&](Connection& connection) -> Status {
    const std::string blob = seal(mapping, kEnvelope);
    Query(connection, "INSERT OR REPLACE INTO module_mapping(key, stored_at, mapping) VALUES (?, ?, ?)", key,
          now, Blob{blob})
        .run();
    return {};
  });
}

Result<std::optional<std::string>> find_mapping(Database& database, const std::string& key) {
  return guarded(database, [&](Connection& connection) -> Result<std::optional<std::string>> {
    Query row(connection, "SELECT mapping FROM module_mapping WHERE key = ?", key);
    if (!row.next()) return std::nullopt;
    std::string scratch;
    Result<std::string_view> bytes = unseal(row.bytes(0), kEnvelope, scratch, "a module mapping");
    if (!bytes) return fail(bytes.error());
    return std::string(*bytes);
  });
}

}  // namespace simrt::history
