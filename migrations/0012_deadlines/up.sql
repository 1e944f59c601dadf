-- Until when a job should be done: the most urgent one that is due is run first.
ALTER TABLE jobs ADD COLUMN due_by timestamptz;
UPDATE jobs SET due_by = run_at;
ALTER TABLE jobs ALTER COLUMN due_by SET NOT NULL, ADD CONSTRAINT jobs_due_by_check CHECK (due_by >= run_at);
DROP INDEX jobs_due;
CREATE INDEX jobs_due ON jobs (due_by, run_at, id) WHERE buried_at IS NULL;
