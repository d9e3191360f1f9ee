#include "history/command_store.h"

#include "history/failure.h"
#include "history/links.h"
#include "history/query.h"
#include "support/hash.h"

namespace simrt::history {
namespace {

std::int64_t store_command(Connection& connection, const StoredCommand& command) {
  std::vector<std::string> texts{command.directory};
  texts.insert(texts.end(), command.arguments.begin(), command.arguments.end());
  const std::string packed = pack_texts(texts);
  const std::uint64_t content =
      hash_combine(hash_combine(hash_bytes(command.path), command.hash), hash_bytes(packed));
  Query known(connection, "SELECT id FROM compile_command WHERE content = ?", content);
  if (known.next()) return known.i64(0);
  Query(connection, "INSERT INTO compile_command(path, hash, content, command) VALUES (?, ?, ?, ?)",
        command.path, command.hash, content, Blob{packed})
      .run();
  return last_row(connection);
}

}  // namespace

Status put_commands(Database& database, RevisionId revision, const std::vector<StoredCommand>& commands) {
  return written(database, [&](Connection& connection) -> Status {
    Query(connection, "DELETE FROM revision_command WHERE revision = ?", revision.value).run();
    for (const StoredCommand& command : commands)
      Query(connection, "INSERT OR IGNORE INTO revision_command(revision, command) VALUES (?, ?)",
            revision.value, store_command(connection, command))
          .run();
    return {};
  });
}

Result<std::vector<StoredCommand>> revision_commands(Database& database, RevisionId revision) {
  return guarded(database, [&](Connection& connection) -> Result<std::vector<StoredCommand>> {
    std::vector<StoredCommand> commands;
    Query row(connection,
              "SELECT c.path, c.hash, c.command FROM revision_command r JOIN compile_command c ON c.id = "
              "r.command WHERE r.revision = ? ORDER BY c.path, c.id",
              revision.value);
    while (row.next()) {
      if (!commands.empty() && commands.back().path == row.text(0)) continue;
      std::vector<std::string> texts = unpack_texts(row.bytes(2));
      if (texts.empty()) continue;
      StoredCommand command{row.text(0), row.u64(1), std::move(texts.front()), {}};
      command.arguments.assign(texts.begin() + 1, texts.end());
      commands.push_back(std::move(command));
    }
    return commands;
  });
}

}  // namespace simrt::history
