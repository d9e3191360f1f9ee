-- The suite of a revision are the tests that have a run there (announced or real), but for those that a later
-- recording of the same revision no longer found.

-- How the suite changed: a test is gone (present 0) as long as it has no run later than `since`. Found again by a
-- later recording: present 1, with a larger `since`; of two histories the larger one counts.
CREATE TABLE suite_change (
  revision INTEGER NOT NULL REFERENCES revision(id),
  test     INTEGER NOT NULL REFERENCES test(id),
  since    INTEGER NOT NULL,           -- milliseconds since 1970: not before the last run that was known
  present  INTEGER NOT NULL,
  PRIMARY KEY (revision, test)
) WITHOUT ROWID;

DROP VIEW v_latest_runs;
CREATE VIEW v_latest_runs AS
  SELECT v.* FROM v_runs v JOIN run x ON x.id = v.run
  WHERE x.id = (SELECT y.id FROM run y WHERE y.revision = x.revision AND y.test = x.test
                ORDER BY y.finished_at DESC, y.id DESC LIMIT 1)
    AND NOT EXISTS (SELECT 1 FROM suite_change s WHERE s.revision = x.revision AND s.test = x.test
                    AND s.present = 0 AND s.since >= x.finished_at);

DROP VIEW v_revisions;
CREATE VIEW v_revisions AS
  SELECT r.id AS revision, r.sha AS sha, e.key AS environment, datetime(r.recorded_at, 'unixepoch') AS recorded_at,
         r.complete AS complete, r.shallow AS shallow, r.tool AS tool,
         (SELECT count(*) FROM revision_unit ru WHERE ru.revision = r.id) AS units,
         (SELECT count(*) FROM (SELECT x.test AS test, max(x.finished_at) AS last FROM run x WHERE x.revision = r.id
                                GROUP BY x.test) l
          WHERE NOT EXISTS (SELECT 1 FROM suite_change s WHERE s.revision = r.id AND s.test = l.test
                            AND s.present = 0 AND s.since >= l.last)) AS tests
  FROM revision r JOIN environment e ON e.id = r.environment;
