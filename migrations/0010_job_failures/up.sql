-- How often in a row a job failed, or its holder vanished under it. Apart from attempts, which count what an outage
-- postponed too.
ALTER TABLE jobs ADD COLUMN failures integer NOT NULL DEFAULT 0;
