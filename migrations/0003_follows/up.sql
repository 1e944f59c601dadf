-- id is the key of the edge in connections; following again takes a new one.
CREATE TABLE follows (
    followee_id bigint NOT NULL,
    follower_id bigint NOT NULL,
    id bigint NOT NULL,
    is_close boolean NOT NULL DEFAULT false,
    is_hot boolean NOT NULL,
    extra jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL,
    PRIMARY KEY (followee_id, follower_id),
    CONSTRAINT follows_not_self CHECK (followee_id <> follower_id)
);
CREATE UNIQUE INDEX follows_reverse ON follows (follower_id, followee_id);
CREATE INDEX follows_of_followee ON follows (followee_id, id);
CREATE INDEX follows_of_follower ON follows (follower_id, id);
-- Delivery walks the hot followers of an author by key.
CREATE INDEX follows_hot ON follows (followee_id, follower_id) WHERE is_hot;
