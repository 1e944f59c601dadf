DROP INDEX jobs_due;
CREATE INDEX jobs_due ON jobs (run_at, id) WHERE buried_at IS NULL;
ALTER TABLE jobs DROP COLUMN due_by;
