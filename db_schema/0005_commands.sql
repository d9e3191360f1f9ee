-- How each unit of a recorded revision was compiled, so that a selection needs no configured build.

-- One command, stored once a content. `command` packs the working directory and the arguments; the paths of
-- source and build directory in them are placeholders, as another machine has others.
CREATE TABLE compile_command (
  id      INTEGER PRIMARY KEY,
  path    TEXT    NOT NULL,            -- the unit
  hash    INTEGER NOT NULL,            -- unit.command
  content INTEGER NOT NULL UNIQUE,     -- hash of everything in this row
  command BLOB    NOT NULL
);

CREATE TABLE revision_command (
  revision INTEGER NOT NULL REFERENCES revision(id),
  command  INTEGER NOT NULL REFERENCES compile_command(id),
  PRIMARY KEY (revision, command)
) WITHOUT ROWID;
CREATE INDEX revision_command_by_command ON revision_command(command);
