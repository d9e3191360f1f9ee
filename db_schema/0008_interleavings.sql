-- What `simrt explore` covered: interleavings, kept across revisions. Everything hangs on sites, which are named by
-- function and statement, so that they stay the same where the code does.

CREATE TABLE explored_test (
  id   INTEGER PRIMARY KEY,
  name TEXT    NOT NULL UNIQUE
);

-- One test of one run; revision, time and seed are the run's.
CREATE TABLE exploration (
  id                INTEGER PRIMARY KEY,
  check_run         INTEGER NOT NULL REFERENCES check_run(id),
  test              INTEGER NOT NULL REFERENCES explored_test(id),
  strategy          TEXT    NOT NULL,
  executable        INTEGER NOT NULL,  -- hash of the program and the project's libraries; 0 = not known
  executions        INTEGER NOT NULL,
  failed            INTEGER NOT NULL,
  first_failure     INTEGER NOT NULL,  -- number of the execution; 0 = none failed
  ended             TEXT    NOT NULL,  -- why it stopped
  settled           INTEGER NOT NULL,  -- 1: saturated or exhausted, without a failure
  complete          INTEGER NOT NULL,  -- 1: all interleavings within the strategy's bound were covered
  covered           INTEGER NOT NULL,  -- pattern instances; by this run and, where they still count, earlier ones
  total             REAL    NOT NULL,  -- TC of the MAP paper
  feasible          INTEGER NOT NULL,  -- estimate
  impacted_covered  INTEGER NOT NULL,  -- instances with a step that the run's diff touches
  impacted_feasible INTEGER NOT NULL,
  method_pairs      INTEGER NOT NULL,
  predecessor_pairs INTEGER NOT NULL,
  UNIQUE (check_run, test)
);
CREATE INDEX exploration_by_test ON exploration(test);

CREATE TABLE interleaving_site (
  id       INTEGER PRIMARY KEY,
  site     INTEGER NOT NULL UNIQUE,  -- hash of function, statement and position in it
  function TEXT    NOT NULL,
  file     TEXT    NOT NULL,
  line     INTEGER NOT NULL,         -- as last seen, for people
  column   INTEGER NOT NULL
);

-- Sites are interleaving_site.id; 0 = unused. Instances without `covered` are predicted and were not brought about.
CREATE TABLE pattern_instance (
  test        INTEGER NOT NULL REFERENCES explored_test(id),
  pattern     INTEGER NOT NULL,  -- 1 to 17, as in the MAP paper
  site1       INTEGER NOT NULL,
  site2       INTEGER NOT NULL,
  site3       INTEGER NOT NULL,
  site4       INTEGER NOT NULL,
  covered     INTEGER NOT NULL,
  exploration INTEGER NOT NULL,  -- the last one that knew of it
  PRIMARY KEY (test, pattern, site1, site2, site3, site4)
) WITHOUT ROWID;

-- HaPSets: `before` was seen immediately before `after`, by another thread, in a good execution.
CREATE TABLE predecessor (
  test           INTEGER NOT NULL REFERENCES explored_test(id),
  after_site     INTEGER NOT NULL,
  after_context  INTEGER NOT NULL,
  before_site    INTEGER NOT NULL,
  before_context INTEGER NOT NULL,
  PRIMARY KEY (test, after_site, after_context, before_site, before_context)
) WITHOUT ROWID;

CREATE TABLE method_pair (
  test       INTEGER NOT NULL REFERENCES explored_test(id),
  first      TEXT    NOT NULL,
  second     TEXT    NOT NULL,
  executions INTEGER NOT NULL,  -- in which the two ran at the same time
  PRIMARY KEY (test, first, second)
) WITHOUT ROWID;

CREATE VIEW v_explorations AS
  SELECT e.id AS exploration, t.name AS test, c.head AS head, c.base AS base,
         datetime(c.started_at, 'unixepoch') AS started_at, c.seed AS seed, e.strategy AS strategy,
         e.executions AS executions, e.failed AS failed, e.first_failure AS first_failure, e.ended AS ended,
         e.complete AS complete, e.covered AS covered, e.total AS total, e.feasible AS feasible,
         e.impacted_covered AS impacted_covered, e.impacted_feasible AS impacted_feasible,
         e.method_pairs AS method_pairs, e.predecessor_pairs AS predecessor_pairs
  FROM exploration e JOIN explored_test t ON t.id = e.test JOIN check_run c ON c.id = e.check_run;

CREATE VIEW v_patterns AS
  SELECT t.name AS test, p.pattern AS pattern, p.covered AS covered, p.exploration AS exploration,
         a.function AS function1, a.file AS file1, a.line AS line1, b.function AS function2, b.file AS file2,
         b.line AS line2, c.function AS function3, c.file AS file3, c.line AS line3, d.function AS function4,
         d.file AS file4, d.line AS line4
  FROM pattern_instance p JOIN explored_test t ON t.id = p.test
       LEFT JOIN interleaving_site a ON a.id = p.site1 LEFT JOIN interleaving_site b ON b.id = p.site2
       LEFT JOIN interleaving_site c ON c.id = p.site3 LEFT JOIN interleaving_site d ON d.id = p.site4;

CREATE VIEW v_method_pairs AS
  SELECT t.name AS test, m.first AS first, m.second AS second, m.executions AS executions
  FROM method_pair m JOIN explored_test t ON t.id = m.test;
