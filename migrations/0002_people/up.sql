CREATE TABLE users (
    id bigint PRIMARY KEY,
    handle text NOT NULL,
    display_name text NOT NULL,
    bio text NOT NULL,
    avatar_url text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
-- Handles are ASCII: their case must not depend on the locale of the database.
CREATE UNIQUE INDEX users_handle_key ON users (lower(handle COLLATE "C"));

-- Apart from the person, so that no row that is shown ever carries a hash.
CREATE TABLE credentials (
    user_id bigint PRIMARY KEY,
    password_hash text NOT NULL,
    changed_at timestamptz NOT NULL
);

-- Apart from the person, so that a popular person's profile is not rewritten at each follow.
CREATE TABLE user_counters (
    user_id bigint PRIMARY KEY,
    message_count bigint NOT NULL DEFAULT 0 CONSTRAINT user_counters_messages_positive CHECK (message_count >= 0),
    follower_count bigint NOT NULL DEFAULT 0 CONSTRAINT user_counters_followers_positive CHECK (follower_count >= 0),
    following_count bigint NOT NULL DEFAULT 0 CONSTRAINT user_counters_following_positive CHECK (following_count >= 0)
) WITH (fillfactor = 70);

-- A session is a family of refresh tokens: one log-in on one device.
CREATE TABLE sessions (
    id bigint PRIMARY KEY,
    user_id bigint NOT NULL,
    user_agent text NOT NULL,
    created_at timestamptz NOT NULL,
    last_used_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz
);
CREATE INDEX sessions_user ON sessions (user_id, id);
CREATE INDEX sessions_expires ON sessions (expires_at);
CREATE INDEX sessions_revoked ON sessions (revoked_at) WHERE revoked_at IS NOT NULL;

-- Only hashes. A used token is kept until its session ends: that is how reuse is noticed.
CREATE TABLE refresh_tokens (
    token_hash bytea PRIMARY KEY,
    session_id bigint NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    used_at timestamptz
);
CREATE INDEX refresh_tokens_session ON refresh_tokens (session_id);
