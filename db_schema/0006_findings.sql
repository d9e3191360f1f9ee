-- What `simrt check` found: runs of it, findings by fingerprint, where each was seen, and how to see it again.

CREATE TABLE check_run (
  id         INTEGER PRIMARY KEY,
  uid        INTEGER NOT NULL UNIQUE,  -- equal on every machine
  head       TEXT    NOT NULL,         -- commit id, or "worktree"
  base       TEXT    NOT NULL,         -- of the diff; empty when everything was looked at
  started_at INTEGER NOT NULL,         -- seconds since 1970
  seconds    REAL    NOT NULL,
  seed       INTEGER NOT NULL,
  detector   TEXT    NOT NULL,         -- "builtin", "tsan", "helgrind"
  complete   INTEGER NOT NULL          -- 0: interrupted, or the budget was used up
);

CREATE TABLE checked_test (
  check_run  INTEGER NOT NULL REFERENCES check_run(id),
  test       TEXT    NOT NULL,         -- name
  executions INTEGER NOT NULL,
  seconds    REAL    NOT NULL,
  note       TEXT    NOT NULL,         -- why it could not be controlled, ...
  PRIMARY KEY (check_run, test)
) WITHOUT ROWID;

CREATE TABLE finding (
  id          INTEGER PRIMARY KEY,
  fingerprint INTEGER NOT NULL UNIQUE,
  kind        INTEGER NOT NULL,        -- 0 race, 1 deadlock, 2 atomicity, 3 failure, 4 hang
  status      INTEGER NOT NULL,        -- 0 potential, 1 confirmed; never falls
  harm        INTEGER NOT NULL,        -- 0 unknown, 1 shown, 2 no difference seen
  variable    TEXT    NOT NULL,
  title       TEXT    NOT NULL,
  detail      TEXT    NOT NULL         -- JSON: sides, stacks, locks, threads, interleaving
);

CREATE TABLE sighting (
  finding    INTEGER NOT NULL REFERENCES finding(id),
  check_run  INTEGER NOT NULL REFERENCES check_run(id),
  test       TEXT    NOT NULL,
  status     INTEGER NOT NULL,
  PRIMARY KEY (finding, check_run, test)
) WITHOUT ROWID;
CREATE INDEX sighting_by_run ON sighting(check_run);

-- A plan with the schedule that shows the finding, for the very program it was found with.
CREATE TABLE witness (
  id         TEXT    PRIMARY KEY,      -- what `simrt replay` takes
  finding    INTEGER NOT NULL REFERENCES finding(id),
  check_run  INTEGER NOT NULL REFERENCES check_run(id),
  test       TEXT    NOT NULL,
  executable INTEGER NOT NULL,         -- hash of the program and the project's libraries
  switches   INTEGER NOT NULL,
  ending     TEXT    NOT NULL,         -- how the execution ends
  plan       TEXT    NOT NULL          -- JSON
);
CREATE INDEX witness_by_finding ON witness(finding);

CREATE TABLE suppression (
  fingerprint INTEGER PRIMARY KEY,
  reason      TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,        -- seconds since 1970
  expires_at  INTEGER NOT NULL
);

CREATE VIEW v_check_runs AS
  SELECT c.id AS check_run, c.head AS head, c.base AS base, datetime(c.started_at, 'unixepoch') AS started_at,
         c.seconds AS seconds, c.seed AS seed, c.detector AS detector, c.complete AS complete,
         (SELECT count(*) FROM checked_test t WHERE t.check_run = c.id) AS tests,
         (SELECT coalesce(sum(executions), 0) FROM checked_test t WHERE t.check_run = c.id) AS executions,
         (SELECT count(DISTINCT finding) FROM sighting s WHERE s.check_run = c.id AND s.status = 1) AS confirmed,
         (SELECT count(DISTINCT finding) FROM sighting s WHERE s.check_run = c.id AND s.status = 0) AS potential
  FROM check_run c;

CREATE VIEW v_findings AS
  SELECT printf('%016x', f.fingerprint) AS finding,
         CASE f.kind WHEN 0 THEN 'race' WHEN 1 THEN 'deadlock' WHEN 2 THEN 'atomicity' WHEN 3 THEN 'failure'
                     ELSE 'hang' END AS kind,
         CASE f.status WHEN 1 THEN 'confirmed' ELSE 'potential' END AS status,
         CASE f.harm WHEN 1 THEN 'harmful-shown' WHEN 2 THEN 'no-difference-seen' ELSE 'unknown' END AS harm,
         f.variable AS variable, f.title AS title,
         (SELECT count(*) FROM sighting s WHERE s.finding = f.id) AS sightings,
         (SELECT datetime(min(c.started_at), 'unixepoch') FROM sighting s JOIN check_run c ON c.id = s.check_run
          WHERE s.finding = f.id) AS first_seen,
         (SELECT datetime(max(c.started_at), 'unixepoch') FROM sighting s JOIN check_run c ON c.id = s.check_run
          WHERE s.finding = f.id) AS last_seen,
         (SELECT w.id FROM witness w WHERE w.finding = f.id ORDER BY w.check_run DESC, w.id LIMIT 1) AS witness,
         (SELECT p.reason FROM suppression p WHERE p.fingerprint = f.fingerprint) AS suppressed,
         f.detail AS detail
  FROM finding f;

CREATE VIEW v_sightings AS
  SELECT printf('%016x', f.fingerprint) AS finding, f.title AS title, s.test AS test, c.head AS head,
         s.check_run AS check_run, datetime(c.started_at, 'unixepoch') AS seen_at,
         CASE s.status WHEN 1 THEN 'confirmed' ELSE 'potential' END AS status
  FROM sighting s JOIN finding f ON f.id = s.finding JOIN check_run c ON c.id = s.check_run;
