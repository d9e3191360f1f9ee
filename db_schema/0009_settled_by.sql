-- A settlement ("nothing is left to try") is one by the strategies that there were: another set of them may find more.
-- Empty: not known, by a version of the tool that did not say.
ALTER TABLE exploration ADD COLUMN settled_by TEXT NOT NULL DEFAULT '';
