-- What a feed asks of each author: a row an author and channel that they ever posted to.
CREATE TABLE author_channels (
    author_id bigint NOT NULL,
    channel text NOT NULL,
    -- The newest message, deleted ones too. It only rises, in the transaction of the message.
    newest_id bigint NOT NULL,
    -- Whether the next messages are pulled: merged by most readers instead of pushed to all.
    is_pulled boolean NOT NULL DEFAULT false,
    -- The newest message that was published while that was so. It only rises; readers merge all up to it.
    last_pulled_id bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (author_id, channel)
) WITH (fillfactor = 70);
CREATE INDEX author_channels_pulled ON author_channels (channel, author_id) WHERE last_pulled_id > 0;
INSERT INTO author_channels (author_id, channel, newest_id)
SELECT author_id, channel, max(id) FROM messages GROUP BY author_id, channel;

-- When the feed was last read, to a few minutes: who read it lately is delivered to first, and a feed that is not read
-- any more cools.
ALTER TABLE activity ADD COLUMN read_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE activity ALTER COLUMN read_at DROP DEFAULT;
CREATE INDEX activity_read ON activity (read_at) WHERE is_hot;
