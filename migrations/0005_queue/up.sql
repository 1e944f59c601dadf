CREATE TABLE jobs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    payload jsonb NOT NULL,
    -- At most one living job has a given key.
    dedupe_key text,
    run_at timestamptz NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    leased_until timestamptz,
    -- Names the holder; a worker whose lease was taken over can write nothing any more.
    lease uuid,
    last_error text,
    created_at timestamptz NOT NULL DEFAULT now(),
    buried_at timestamptz
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX jobs_due ON jobs (run_at, id) WHERE buried_at IS NULL;
CREATE UNIQUE INDEX jobs_dedupe_key ON jobs (dedupe_key) WHERE buried_at IS NULL;
