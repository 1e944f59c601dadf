-- Partitioned by time, which is what an id begins with. The partitions are made by the program
-- (one a month, twelve months ahead), not here: a migration runs once, time goes on.
CREATE TABLE messages (
    id bigint NOT NULL PRIMARY KEY,
    author_id bigint NOT NULL,
    channel text NOT NULL,
    kind text NOT NULL CONSTRAINT messages_kind CHECK (kind IN ('text', 'image', 'video')),
    status text NOT NULL CONSTRAINT messages_status CHECK (status IN ('published', 'deleted')),
    title text,
    content text NOT NULL,
    extra jsonb NOT NULL,
    version integer NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    deleted_at timestamptz,
    CONSTRAINT messages_deleted_at CHECK ((status = 'deleted') = (deleted_at IS NOT NULL))
) PARTITION BY RANGE (id);
CREATE INDEX messages_of_author ON messages (author_id, channel, id);

-- What a message said before each edit. The current version is in messages.
CREATE TABLE message_versions (
    message_id bigint NOT NULL,
    version integer NOT NULL,
    title text,
    content text NOT NULL,
    extra jsonb NOT NULL,
    written_at timestamptz NOT NULL,
    PRIMARY KEY (message_id, version)
);

-- Claimed by insert in the transaction of what it guards.
CREATE TABLE idempotency_keys (
    user_id bigint NOT NULL,
    verb text NOT NULL,
    key text NOT NULL,
    input_hash bytea NOT NULL,
    result_id bigint NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, verb, key)
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);
