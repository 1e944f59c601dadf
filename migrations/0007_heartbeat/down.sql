ALTER TABLE inbox_epoch DROP COLUMN heartbeat, DROP COLUMN run_id;
