-- The public query surface; see README.md in this folder. The functions simrt_* are defined by the tool, so views
-- that use them work in `simrt history sql` and `simrt history export`, not in a bare sqlite3 shell.

CREATE VIEW v_environments AS
  SELECT e.key AS environment, e.description AS description,
         (SELECT count(*) FROM revision r WHERE r.environment = e.id) AS revisions
  FROM environment e;

CREATE VIEW v_revisions AS
  SELECT r.id AS revision, r.sha AS sha, e.key AS environment, datetime(r.recorded_at, 'unixepoch') AS recorded_at,
         r.complete AS complete, r.shallow AS shallow, r.tool AS tool,
         (SELECT count(*) FROM revision_unit ru WHERE ru.revision = r.id) AS units,
         (SELECT count(DISTINCT test) FROM run x WHERE x.revision = r.id) AS tests
  FROM revision r JOIN environment e ON e.id = r.environment;

CREATE VIEW v_tests AS
  SELECT t.name AS test, count(*) AS runs, sum(x.reused = 0) AS executions,
         sum(x.reused = 0 AND x.outcome NOT IN (0, 4)) AS failures,
         avg(CASE WHEN x.reused = 0 THEN x.seconds END) AS mean_seconds, max(x.seconds) AS max_seconds,
         datetime(max(x.finished_at) / 1000, 'unixepoch') AS last_run_at
  FROM test t JOIN run x ON x.test = t.id GROUP BY t.id;

CREATE VIEW v_runs AS
  SELECT x.id AS run, t.name AS test, x.revision AS revision, r.sha AS sha,
         datetime(x.finished_at / 1000, 'unixepoch') AS finished_at, simrt_outcome(x.outcome) AS outcome,
         x.exit_code AS exit_code, x.seconds AS seconds, printf('%016x', x.executable) AS executable,
         x.reused AS reused, c.threads AS threads, c.blocks AS blocks, c.shared AS shared_blocks
  FROM run x JOIN test t ON t.id = x.test JOIN revision r ON r.id = x.revision
  LEFT JOIN coverage c ON c.id = x.coverage;

-- The latest run of every test at every revision.
CREATE VIEW v_latest_runs AS
  SELECT v.* FROM v_runs v JOIN run x ON x.id = v.run
  WHERE x.id = (SELECT y.id FROM run y WHERE y.revision = x.revision AND y.test = x.test
                ORDER BY y.finished_at DESC, y.id DESC LIMIT 1);

-- Functions of a revision; one row a version, however many units hold it.
CREATE VIEW v_functions AS
  SELECT DISTINCT ru.revision AS revision, printf('%016x', f.function) AS function, f.name AS name, f.file AS file,
         json_extract(link.value, '$[1]') AS begin_line, json_extract(link.value, '$[1]') + f.lines AS end_line
  FROM revision_unit ru JOIN unit u ON u.id = ru.unit JOIN json_each(simrt_links(u.functions)) link
  JOIN function_version f ON f.id = json_extract(link.value, '$[0]');

CREATE VIEW v_units AS
  SELECT ru.revision AS revision, u.path AS path, printf('%016x', u.command) AS command, u.errors AS errors
  FROM revision_unit ru JOIN unit u ON u.id = ru.unit;

-- Which function each run covered, by thread ("several" = by two or more threads).
CREATE VIEW v_coverage_functions AS
  SELECT x.id AS run, t.name AS test, x.revision AS revision, json_extract(part.value, '$[0]') AS thread,
         printf('%016x', b.function) AS function,
         coalesce((SELECT f.name FROM function_version f WHERE f.function = b.function LIMIT 1), '?') AS name,
         (SELECT f.file FROM function_version f WHERE f.function = b.function LIMIT 1) AS file,
         json_extract(part.value, '$[2]') AS blocks_covered, b.span AS blocks_total
  FROM run x JOIN test t ON t.id = x.test JOIN coverage c ON c.id = x.coverage
  JOIN json_each(simrt_coverage_functions(c.coverage)) part
  JOIN block_range b ON b.base = json_extract(part.value, '$[1]');

CREATE VIEW v_selections AS
  SELECT s.id AS selection, r.sha AS base, s.head AS head, simrt_technique(s.technique) AS technique,
         datetime(s.created_at, 'unixepoch') AS created_at, s.tests AS tests, s.selected AS selected,
         s.pairs AS pairs, s.uncovered AS uncovered, s.unknowns AS unknowns
  FROM selection s JOIN revision r ON r.id = s.base;

CREATE VIEW v_pairs AS
  SELECT s.id AS selection, r.sha AS base, s.head AS head, p.ordinal AS pair, a.variable_name AS variable,
         a.function_name AS first_function, a.file AS first_file, a.line AS first_line, simrt_mode(a.mode) AS first_mode,
         b.function_name AS second_function, b.file AS second_file, b.line AS second_line,
         simrt_mode(b.mode) AS second_mode,
         simrt_rule(CASE WHEN a.impacted THEN a.rule ELSE b.rule END) AS rule,
         CASE WHEN a.impacted THEN a.cause ELSE b.cause END AS cause, p.covered AS covered
  FROM selection_pair p JOIN selection s ON s.id = p.selection JOIN revision r ON r.id = s.base
  JOIN selection_access a ON a.selection = p.selection AND a.ordinal = p.first
  JOIN selection_access b ON b.selection = p.selection AND b.ordinal = p.second;

CREATE VIEW v_decisions AS
  SELECT d.selection AS selection, d.rank AS rank, coalesce(t.name, printf('%016x', d.test)) AS test, d.run AS run,
         d.new_pairs AS new_pairs, d.pairs AS pairs, d.seconds AS seconds, d.reason AS reason
  FROM selection_decision d LEFT JOIN test t ON t.id = d.test;
