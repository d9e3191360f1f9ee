-- Tests, their runs, and the coverage of each run.

CREATE TABLE test (
  id   INTEGER PRIMARY KEY,            -- TestId
  name TEXT NOT NULL
);

-- How a test was defined when it ran (command, directory, labels, ...), stored once a content.
CREATE TABLE test_case (
  id         INTEGER PRIMARY KEY,
  test       INTEGER NOT NULL REFERENCES test(id),
  hash       INTEGER NOT NULL UNIQUE,
  definition BLOB    NOT NULL
);
CREATE INDEX test_case_by_test ON test_case(test);

-- Thread-wise coverage, stored once a content: roles and CRoaring bitmaps of block numbers.
CREATE TABLE coverage (
  id       INTEGER PRIMARY KEY,
  hash     INTEGER NOT NULL UNIQUE,
  threads  INTEGER NOT NULL,           -- threads that ran
  blocks   INTEGER NOT NULL,           -- blocks covered by any thread
  shared   INTEGER NOT NULL,           -- of these, by two or more threads
  coverage BLOB    NOT NULL
);

CREATE TABLE run (
  id          INTEGER PRIMARY KEY,
  uid         INTEGER NOT NULL UNIQUE, -- equal in every database the run is merged into
  revision    INTEGER NOT NULL REFERENCES revision(id),
  test        INTEGER NOT NULL REFERENCES test(id),
  test_case   INTEGER NOT NULL REFERENCES test_case(id),
  finished_at INTEGER NOT NULL,        -- milliseconds since 1970
  outcome     INTEGER NOT NULL,
  exit_code   INTEGER NOT NULL,
  seconds     REAL    NOT NULL,
  executable  INTEGER NOT NULL,
  coverage    INTEGER REFERENCES coverage(id),  -- NULL: no trace appeared
  reused      INTEGER NOT NULL DEFAULT 0,       -- 1: result of an earlier run of the same executable
  notes       BLOB    NOT NULL
);
CREATE INDEX run_latest ON run(revision, test, finished_at, id);
CREATE INDEX run_by_test ON run(test, finished_at);
CREATE INDEX run_by_coverage ON run(coverage);
CREATE INDEX run_by_case ON run(test_case);
