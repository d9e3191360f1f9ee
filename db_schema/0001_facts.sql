-- Environments, recorded revisions, and what the static analysis knows of them.
-- 64-bit hashes and ids are stored as SQLite's signed integers, bit for bit.

PRAGMA application_id = 1397571154;  -- "SMRR": a history, not just any SQLite file

CREATE TABLE schema_migration (
  version    INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  applied_at INTEGER NOT NULL          -- seconds since 1970
);

CREATE TABLE environment (
  id          INTEGER PRIMARY KEY,
  key         TEXT NOT NULL UNIQUE,    -- hash of compiler, flags, sanitizers, tool version
  description TEXT NOT NULL
);

CREATE TABLE revision (
  id          INTEGER PRIMARY KEY,
  sha         TEXT    NOT NULL,
  environment INTEGER NOT NULL REFERENCES environment(id),
  recorded_at INTEGER NOT NULL,        -- seconds since 1970
  complete    INTEGER NOT NULL DEFAULT 0,
  shallow     INTEGER NOT NULL DEFAULT 0,
  tool        TEXT    NOT NULL,
  UNIQUE (sha, environment)
);

-- Finished shards of a CI matrix; a revision is complete when all `shards` of one split are here.
CREATE TABLE revision_shard (
  revision INTEGER NOT NULL REFERENCES revision(id),
  shards   INTEGER NOT NULL,
  shard    INTEGER NOT NULL,           -- 1-based
  PRIMARY KEY (revision, shards, shard)
) WITHOUT ROWID;

CREATE TABLE file_version (
  id           INTEGER PRIMARY KEY,
  path         TEXT    NOT NULL,
  content      INTEGER NOT NULL,
  declarations INTEGER NOT NULL,
  UNIQUE (path, content, declarations)
);

-- One version of a function, stored once however many units and revisions hold it. Lines inside `facts`
-- and `points` are relative to the function's first line, so that a moved function is no new version.
CREATE TABLE function_version (
  id       INTEGER PRIMARY KEY,
  function INTEGER NOT NULL,           -- FunctionId
  hash     INTEGER NOT NULL,           -- of everything in this row and in function_points
  body     INTEGER NOT NULL,           -- FunctionFacts::body
  name     TEXT    NOT NULL,
  file     TEXT    NOT NULL,
  lines    INTEGER NOT NULL,           -- end_line - begin_line
  facts    BLOB    NOT NULL,
  UNIQUE (function, hash)
);
CREATE INDEX function_version_by_file ON function_version(file);

CREATE TABLE function_points (
  version INTEGER PRIMARY KEY REFERENCES function_version(id),
  points  BLOB NOT NULL
);

CREATE TABLE variable_version (
  id       INTEGER PRIMARY KEY,
  variable INTEGER NOT NULL,           -- VariableId
  hash     INTEGER NOT NULL,
  facts    BLOB    NOT NULL,
  UNIQUE (variable, hash)
);

-- One parse result. The three lists are packed: files -> file_version ids; functions and variables ->
-- (version id, line) pairs, in the order of the parse.
CREATE TABLE unit (
  id        INTEGER PRIMARY KEY,
  path      TEXT    NOT NULL,
  command   INTEGER NOT NULL,
  hash      INTEGER NOT NULL UNIQUE,
  codec     INTEGER NOT NULL,          -- version of the facts codec that wrote the versions
  errors    INTEGER NOT NULL,
  files     BLOB    NOT NULL,
  functions BLOB    NOT NULL,
  variables BLOB    NOT NULL,
  messages  BLOB    NOT NULL
);
CREATE INDEX unit_by_path ON unit(path, command);

CREATE TABLE revision_unit (
  revision INTEGER NOT NULL REFERENCES revision(id),
  unit     INTEGER NOT NULL REFERENCES unit(id),
  PRIMARY KEY (revision, unit)
) WITHOUT ROWID;
CREATE INDEX revision_unit_by_unit ON revision_unit(unit);

-- Block numbers [base, base + span) belong to the blocks 0 .. span-1 of one body of one function.
-- Rows are never deleted and numbers never reused: coverage and mappings of any age refer to them.
CREATE TABLE block_range (
  base     INTEGER PRIMARY KEY,
  function INTEGER NOT NULL,
  body     INTEGER NOT NULL,
  span     INTEGER NOT NULL,
  UNIQUE (function, body, span)
);

-- How the guards of one instrumented binary map to blocks; opaque to the history.
CREATE TABLE module_mapping (
  key       TEXT    PRIMARY KEY,       -- build id or content hash
  stored_at INTEGER NOT NULL,
  mapping   BLOB    NOT NULL
);
