-- Past selections: the impacted pairs of each change, and the tests chosen for them.

CREATE TABLE selection (
  id         INTEGER PRIMARY KEY,
  uid        INTEGER NOT NULL UNIQUE,
  base       INTEGER NOT NULL REFERENCES revision(id),
  head       TEXT    NOT NULL,         -- commit id, or "worktree"
  technique  INTEGER NOT NULL,
  created_at INTEGER NOT NULL,         -- seconds since 1970
  tests      INTEGER NOT NULL,         -- tests considered
  selected   INTEGER NOT NULL,
  pairs      INTEGER NOT NULL,
  uncovered  INTEGER NOT NULL,
  unknowns   INTEGER NOT NULL
);
CREATE INDEX selection_by_base ON selection(base);

CREATE TABLE selection_access (
  selection     INTEGER NOT NULL REFERENCES selection(id),
  ordinal       INTEGER NOT NULL,
  function      INTEGER NOT NULL,
  function_name TEXT    NOT NULL,
  variable      INTEGER NOT NULL,
  variable_name TEXT    NOT NULL,
  file          TEXT    NOT NULL,
  line          INTEGER NOT NULL,
  column        INTEGER NOT NULL,
  mode          INTEGER NOT NULL,
  impacted      INTEGER NOT NULL,
  rule          INTEGER NOT NULL,
  cause         TEXT    NOT NULL,
  PRIMARY KEY (selection, ordinal)
) WITHOUT ROWID;

CREATE TABLE selection_pair (
  selection INTEGER NOT NULL REFERENCES selection(id),
  ordinal   INTEGER NOT NULL,
  first     INTEGER NOT NULL,          -- selection_access.ordinal
  second    INTEGER NOT NULL,
  covered   INTEGER NOT NULL,          -- 1: some recorded test reaches it with two threads
  PRIMARY KEY (selection, ordinal)
) WITHOUT ROWID;

CREATE TABLE selection_decision (
  selection INTEGER NOT NULL REFERENCES selection(id),
  test      INTEGER NOT NULL,          -- TestId; a new test has no row in `test` yet
  rank      INTEGER NOT NULL,          -- 1-based position in the list
  run       INTEGER NOT NULL,
  tier      INTEGER NOT NULL,
  new_pairs INTEGER NOT NULL,
  pairs     INTEGER NOT NULL,
  seconds   REAL    NOT NULL,
  reason    TEXT    NOT NULL,          -- the first one
  PRIMARY KEY (selection, test)
) WITHOUT ROWID;
