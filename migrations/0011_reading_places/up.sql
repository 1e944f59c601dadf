-- Up to where a person has read a feed: one place a person, channel and filter, for all of their devices.
CREATE TABLE reading_places (
    user_id bigint NOT NULL,
    channel text NOT NULL,
    filter text NOT NULL CONSTRAINT reading_places_filter CHECK (filter IN ('all', 'close')),
    -- A position in the order of the feed. What stood there may be gone.
    position bigint NOT NULL,
    marked_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, channel, filter)
) WITH (fillfactor = 70);
