-- Who likes what: a row a message and person, kept when the like is taken back. id is the key of the edge in
-- connections and carries when it was liked; liking again takes a new one. created_at is the first time.
CREATE TABLE likes (
    message_id bigint NOT NULL,
    user_id bigint NOT NULL,
    id bigint NOT NULL,
    author_id bigint NOT NULL,
    created_at timestamptz NOT NULL,
    cancelled_at timestamptz,
    PRIMARY KEY (message_id, user_id)
);
CREATE INDEX likes_of_message ON likes (message_id, id) WHERE cancelled_at IS NULL;
CREATE INDEX likes_of_user ON likes (user_id, id) WHERE cancelled_at IS NULL;

-- Apart from the message, so that a popular one is not rewritten at each like. A message without a row has
-- none of anything. "Ever" counts what was liked at any time, and only rises.
CREATE TABLE message_counters (
    message_id bigint PRIMARY KEY,
    author_id bigint NOT NULL,
    like_count bigint NOT NULL DEFAULT 0 CONSTRAINT message_counters_likes_positive CHECK (like_count >= 0),
    like_ever_count bigint NOT NULL DEFAULT 0,
    CONSTRAINT message_counters_likes_ever CHECK (like_ever_count >= like_count)
) WITH (fillfactor = 70);
