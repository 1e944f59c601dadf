DROP TABLE idempotency_keys;
DROP TABLE message_versions;
DROP TABLE messages;
