-- The order in which rows came, for those that have one moment: a column of their own, and not what SQLite happens to number.
ALTER TABLE build_sets ADD COLUMN seq INTEGER;
UPDATE build_sets SET seq = rowid;
CREATE UNIQUE INDEX build_sets_in_order ON build_sets (seq);
DROP INDEX build_sets_of_package;
CREATE INDEX build_sets_of_package ON build_sets (package_id, created_at, seq);

ALTER TABLE commit_workflows ADD COLUMN seq INTEGER;
UPDATE commit_workflows SET seq = rowid;
CREATE UNIQUE INDEX commit_workflows_in_order ON commit_workflows (seq);
DROP INDEX commit_workflows_of_package;
CREATE INDEX commit_workflows_of_package ON commit_workflows (package_id, created_at, seq);

ALTER TABLE track_guardrails ADD COLUMN seq INTEGER;
UPDATE track_guardrails SET seq = rowid;
CREATE UNIQUE INDEX track_guardrails_in_order ON track_guardrails (seq);

ALTER TABLE invites ADD COLUMN seq INTEGER;
UPDATE invites SET seq = rowid;
CREATE UNIQUE INDEX invites_in_order ON invites (seq);
DROP INDEX invites_of_package;
CREATE INDEX invites_of_package ON invites (package_id, created_at, seq);

ALTER TABLE uploads ADD COLUMN seq INTEGER;
UPDATE uploads SET seq = rowid;
CREATE UNIQUE INDEX uploads_in_order ON uploads (seq);
DROP INDEX uploads_of_package;
CREATE INDEX uploads_of_package ON uploads (package_id, pushed_at, seq);
DROP INDEX uploads_in_review;
CREATE INDEX uploads_in_review ON uploads (pushed_at, seq) WHERE status IN ('new', 'scanned');
