#include "history/database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <functional>

#include "history/exploration_store.h"
#include "history/migrations.h"
#include "history/sql_console.h"
#include "sample.h"

namespace simrt::history {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

Error open_error(const fs::path& file, OpenOptions options) {
  Result<Database> database = Database::open(file, options);
  if (!database) return database.error();
  ADD_FAILURE() << "opened " << file;
  return {};
}

/// Runs SQL past the layer, as another program would.
void raw_sql(const fs::path& file, const std::string& sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << (message ? message : "");
  sqlite3_free(message);
  sqlite3_close(handle);
}

void make_schema(const fs::path& file, int version) {
  raw_sql(file, "PRAGMA journal_mode = WAL");
  for (const Migration& step : migrations().first(static_cast<std::size_t>(version))) {
    raw_sql(file, std::string(step.sql));
    raw_sql(file, "INSERT INTO schema_migration VALUES (" + std::to_string(step.version) + ", 'x', 0);" +
                      "PRAGMA user_version = " + std::to_string(step.version));
  }
}

std::int64_t count(Database& database, const std::string& table) {
  return std::get<std::int64_t>(ok(run_sql(database, "SELECT count(*) FROM " + table)).rows.at(0).at(0));
}

/// Runs `work` in a child process, without root's rights when there are some; returns its exit code.
int in_child(const std::function<int()>& work, bool unprivileged) {
  const pid_t child = fork();
  if (child == 0) {
    if (unprivileged && geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(99);
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

TEST(Database, IsCreatedWithItsDirectoryAndOpenedAgain) {
  TempDir dir;
  const fs::path file = dir.path() / "deep" / "er" / "history.db";
  {
    Database database = create(file);
    begin(database, "abc");
    EXPECT_EQ(database.schema_version(), static_cast<int>(migrations().size()));
    EXPECT_FALSE(database.read_only());
  }
  Database again = ok(Database::open(file, {OpenMode::ReadOnly}));
  EXPECT_EQ(count(again, "v_revisions"), 1);
  ok(again.verify());
}

TEST(Database, AMissingOneIsAnErrorWithTheWayOut) {
  TempDir dir;
  for (const OpenMode mode : {OpenMode::ReadOnly, OpenMode::ReadWrite}) {
    const Error error = open_error(dir.file(), {mode});
    EXPECT_EQ(error.code, ErrorCode::History);
    EXPECT_NE(error.hint.find("simrt record"), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(dir.file()));
  EXPECT_EQ(open_error(dir.path(), {OpenMode::Create}).code, ErrorCode::History);
}

TEST(Database, AnOldSettlementDoesNotSayWhoseItIs) {
  TempDir dir;
  make_schema(dir.file(), 8);
  raw_sql(
      dir.file(),
      "INSERT INTO check_run(id, uid, head, base, started_at, seconds, seed, detector, complete) VALUES "
      "(1, 1, 'abc', '', 5, 1, 1, 'explore:map', 1); INSERT INTO explored_test VALUES (1, 't'); INSERT INTO "
      "exploration VALUES (1, 1, 1, 'map', 7, 12, 0, 0, 'saturation', 1, 0, 1, 2, 3, 0, 0, 0, 0)");
  Database database = ok(Database::open(dir.file(), {OpenMode::ReadWrite}));
  const auto last = ok(last_exploration(database, "t"));
  ASSERT_TRUE(last.has_value());
  EXPECT_TRUE(last->settled);
  EXPECT_EQ(last->settled_by, "");
  EXPECT_EQ(last->executions, 12U);
}

TEST(Database, IsMigratedFromEveryOlderSchema) {
  for (int version = 1; version < static_cast<int>(migrations().size()); ++version) {
    TempDir dir;
    make_schema(dir.file(), version);
    raw_sql(dir.file(),
            "INSERT INTO environment VALUES (1, 'env', 'd'); INSERT INTO revision VALUES (1, 'abc', 1, 5, 1, "
            "0, '0.9')");
    {
      Database database = ok(Database::open(dir.file(), {OpenMode::ReadWrite}));
      EXPECT_EQ(count(database, "schema_migration"), static_cast<std::int64_t>(migrations().size()));
      const auto kept = ok(find_revision(database, "abc", "env"));
      ASSERT_TRUE(kept.has_value());
      EXPECT_TRUE(kept->complete);
      ok(put_run(database, kept->id, test_case("t"), test_run("t", block_set({1}), {}, {}), 1));
    }
    Database reader = ok(Database::open(dir.file(), {OpenMode::ReadOnly}));
    EXPECT_EQ(count(reader, "v_latest_runs"), 1) << "from schema " << version;
  }
}

TEST(Database, ReadOnlyOpeningOfAnOlderSchemaLeavesTheFileAsItIs) {
  TempDir dir;
  make_schema(dir.file(), 1);
  raw_sql(dir.file(), "INSERT INTO environment VALUES (1, 'env', 'd')");
  {
    Database database = ok(Database::open(dir.file(), {OpenMode::ReadOnly}));
    EXPECT_EQ(count(database, "v_environments"), 1);
    EXPECT_FALSE(begin_revision(database, {}, {"e", "d"}).has_value());
  }
  sqlite3* handle = nullptr;
  sqlite3_open(dir.file().c_str(), &handle);
  int version = 0;
  sqlite3_exec(
      handle, "PRAGMA user_version",
      [](void* out, int, char** values, char**) { return *static_cast<int*>(out) = std::atoi(values[0]), 0; },
      &version, nullptr);
  sqlite3_close(handle);
  EXPECT_EQ(version, 1);
}

TEST(Database, ANewerOneIsRefusedAndUntouched) {
  TempDir dir;
  {
    Database database = create(dir.file());
  }
  raw_sql(dir.file(), "PRAGMA user_version = 999");
  for (const OpenMode mode : {OpenMode::ReadOnly, OpenMode::ReadWrite, OpenMode::Create}) {
    const Error error = open_error(dir.file(), {mode});
    EXPECT_EQ(error.code, ErrorCode::History);
    EXPECT_NE(error.message.find("newer"), std::string::npos) << error.message;
    EXPECT_FALSE(error.hint.empty());
  }
}

TEST(Database, FilesThatAreNoHistoryAreRefused) {
  TempDir dir;
  std::ofstream(dir.file("text.db")) << std::string(5000, 'x');
  Error error = open_error(dir.file("text.db"), {OpenMode::Create});
  EXPECT_EQ(error.code, ErrorCode::History);
  EXPECT_NE(error.message.find("not a database"), std::string::npos) << error.message;

  raw_sql(dir.file("foreign.db"), "CREATE TABLE music(title TEXT)");
  error = open_error(dir.file("foreign.db"), {OpenMode::Create});
  EXPECT_EQ(error.code, ErrorCode::History);
  EXPECT_NE(error.message.find("not a simrt history"), std::string::npos) << error.message;

  std::ofstream(dir.file("empty.db")).flush();
  EXPECT_EQ(open_error(dir.file("empty.db"), {OpenMode::ReadOnly}).code, ErrorCode::History);
  ok(Database::open(dir.file("empty.db"), {OpenMode::Create}));  // nothing is lost by using it
}

TEST(Database, DamageIsFoundByVerify) {
  TempDir dir;
  {
    Database database = create(dir.file());
    const RevisionId revision = begin(database, "abc");
    for (int i = 0; i < 300; ++i) {
      const std::string name = "test" + std::to_string(i);
      ok(put_run(database, revision, test_case(name),
                 test_run(name, block_set({static_cast<BlockNumber>(i)}), {}, {}), i));
    }
  }
  const auto size = fs::file_size(dir.file());
  std::fstream raw(dir.file(), std::ios::in | std::ios::out | std::ios::binary);
  for (std::uintmax_t at = 4096 * 8; at + 100 < size; at += 4096) {
    raw.seekp(static_cast<std::streamoff>(at));
    raw << std::string(100, '\xee');
  }
  raw.close();
  Result<Database> database = Database::open(dir.file(), {OpenMode::ReadOnly});
  const Status verdict = database ? database->verify() : Status(fail(database.error()));
  ASSERT_FALSE(verdict.has_value());
  EXPECT_EQ(verdict.error().code, ErrorCode::History);
  EXPECT_NE(verdict.error().message.find("damaged"), std::string::npos) << verdict.error().message;
}

TEST(Database, ASecondWriterWaitsThenSaysThatItIsLocked) {
  TempDir dir;
  Database first = create(dir.file());
  Database second = ok(Database::open(dir.file(), {OpenMode::ReadWrite, milliseconds(50)}));
  const Status held = first.transaction([&]() -> Status {
    begin(first, "abc");
    const Result<RevisionId> blocked =
        begin_revision(second, {{}, "def", "", 0, false, false, ""}, {"env", ""});
    EXPECT_FALSE(blocked.has_value());
    if (!blocked) {
      EXPECT_EQ(blocked.error().code, ErrorCode::History);
      EXPECT_NE(blocked.error().message.find("locked"), std::string::npos) << blocked.error().message;
      EXPECT_FALSE(blocked.error().hint.empty());
    }
    EXPECT_EQ(count(second, "revision"), 0);  // readers see the last committed state
    return {};
  });
  ok(held);
  EXPECT_EQ(count(second, "revision"), 1);
  begin(second, "def");  // the failed attempt left nothing open
}

TEST(Database, AReaderWorksWhileARecorderWrites) {
  TempDir dir;
  Database writer = create(dir.file());
  const RevisionId revision = begin(writer, "abc");
  Database reader = ok(Database::open(dir.file(), {OpenMode::ReadOnly, milliseconds(50)}));
  ok(put_run(writer, revision, test_case("t"), test_run("t", block_set({1}), {}, {}), 1));
  EXPECT_EQ(ok(recorded_tests(reader, revision)).size(), 1U);
  EXPECT_FALSE(put_run(reader, revision, test_case("t"), {}, 2).has_value());
}

TEST(Database, NestedTransactionsRollBackAlone) {
  TempDir dir;
  Database database = create(dir.file());
  const Status outer = database.transaction([&]() -> Status {
    begin(database, "kept");
    const Status inner = database.transaction([&]() -> Status {
      begin(database, "dropped");
      return fail(ErrorCode::Internal, "no");
    });
    EXPECT_FALSE(inner.has_value());
    return {};
  });
  ok(outer);
  EXPECT_EQ(count(database, "revision"), 1);
  EXPECT_FALSE(database.transaction([&]() -> Status {
    begin(database, "gone");
    return fail(ErrorCode::Internal, "no");
  }));
  EXPECT_EQ(count(database, "revision"), 1);
}

TEST(Database, AReadOnlyDirectoryIsFineForReading) {
  TempDir dir;
  {
    Database database = create(dir.file("odd?na#me%.db"));
    begin(database, "abc");
  }
  fs::permissions(dir.file("odd?na#me%.db"), fs::perms(0444));
  fs::permissions(dir.path(), fs::perms(0555));
  const int code = in_child(
      [&] {
        Result<Database> database = Database::open(dir.file("odd?na#me%.db"), {OpenMode::ReadOnly});
        if (!database) return 1;
        if (count(*database, "v_revisions") != 1) return 2;
        const Result<Database> writer = Database::open(dir.file("odd?na#me%.db"), {OpenMode::ReadWrite});
        if (writer) return 3;
        return writer.error().code == ErrorCode::Storage ? 0 : 4;
      },
      true);
  EXPECT_EQ(code, 0);
}

TEST(Database, AnUnfinishedLogInAReadOnlyDirectoryIsRead) {
  TempDir dir, scratch;
  Database database = create(scratch.file());
  ok(database.checkpoint());
  begin(database, "only in the log");
  for (const char* suffix : {"", "-wal"})
    fs::copy_file(scratch.file().string() + suffix, dir.file().string() + suffix);
  fs::permissions(dir.path(), fs::perms(0555));
  const int code = in_child(
      [&] {
        Result<Database> reader = Database::open(dir.file(), {OpenMode::ReadOnly});
        if (!reader) return 1;
        return count(*reader, "revision") == 1 ? 0 : 2;
      },
      true);
  EXPECT_EQ(code, 0);
}

TEST(Database, AFullDiskIsAStorageErrorAndLosesNothingCommitted) {
  TempDir dir;
  {
    Database database = create(dir.file());
    begin(database, "before");
  }
  const int code = in_child(
      [&] {
        signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{200'000, 200'000};
        setrlimit(RLIMIT_FSIZE, &limit);
        Result<Database> database = Database::open(dir.file(), {OpenMode::ReadWrite});
        if (!database) return 1;
        const RevisionId revision = begin(*database, "during");
        for (int i = 0; i < 5000; ++i) {
          const std::string name = "a test with a long name, number " + std::to_string(i);
          const auto done =
              put_run(*database, revision, test_case(name), test_run(name, block_set({1}), {}, {}), i);
          if (!done) return done.error().code == ErrorCode::Storage ? 0 : 2;
        }
        return 3;
      },
      false);
  EXPECT_EQ(code, 0);
  Database after = ok(Database::open(dir.file(), {OpenMode::ReadWrite}));
  ok(after.verify());
  EXPECT_EQ(count(after, "revision"), 2);
}

TEST(Database, KillingARecorderLosesAtMostTheRunInProgress) {
  TempDir dir;
  {
    Database database = create(dir.file());
    begin(database, "abc");
  }
  int reported[2];
  ASSERT_EQ(pipe(reported), 0);
  const pid_t child = fork();
  if (child == 0) {
    Database database = ok(Database::open(dir.file(), {OpenMode::ReadWrite}));
    const RevisionId revision = ok(find_revision(database, "abc", "env"))->id;
    for (std::uint32_t i = 0;; ++i) {
      const std::string name = "test" + std::to_string(i);
      ok(put_run(database, revision, test_case(name), test_run(name, block_set({i, i + 5}), {}, {}), i));
      if (write(reported[1], &i, sizeof i) != sizeof i) _exit(1);
    }
  }
  close(reported[1]);
  std::uint32_t last = 0, next = 0;
  while (last < 150 && read(reported[0], &next, sizeof next) == sizeof next) last = next;
  kill(child, SIGKILL);
  while (read(reported[0], &next, sizeof next) == sizeof next) last = next;
  close(reported[0]);
  waitpid(child, nullptr, 0);

  Database after = ok(Database::open(dir.file(), {OpenMode::ReadWrite}));
  ok(after.verify());
  const RevisionId revision = ok(find_revision(after, "abc", "env"))->id;
  const std::size_t kept = ok(recorded_tests(after, revision)).size();
  EXPECT_GE(kept, last + 1);  // everything that was reported as stored
  EXPECT_LE(kept, last + 2);  // and perhaps the one whose report was cut off
}

}  // namespace
}  // namespace simrt::history
