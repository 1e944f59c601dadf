ALTER TABLE activity DROP COLUMN read_at;
DROP TABLE author_channels;
