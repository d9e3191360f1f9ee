-- Kind 5: two steps whose order nothing enforces.
DROP VIEW v_findings;

CREATE VIEW v_findings AS
  SELECT printf('%016x', f.fingerprint) AS finding,
         CASE f.kind WHEN 0 THEN 'race' WHEN 1 THEN 'deadlock' WHEN 2 THEN 'atomicity' WHEN 3 THEN 'failure'
                     WHEN 5 THEN 'order' ELSE 'hang' END AS kind,
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
