-- What Redis was when it was last seen, to notice one that went back in time: a restart from an older copy, or a
-- replica that lags and takes over. Both start as unknown.
ALTER TABLE inbox_epoch
    ADD COLUMN run_id text NOT NULL DEFAULT '',
    ADD COLUMN heartbeat bigint NOT NULL DEFAULT 0;
