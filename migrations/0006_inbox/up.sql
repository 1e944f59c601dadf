-- Which feeds are read: a row a person and channel. Raising the generation voids that inbox.
CREATE TABLE activity (
    user_id bigint NOT NULL,
    channel text NOT NULL,
    is_hot boolean NOT NULL,
    generation bigint NOT NULL,
    PRIMARY KEY (user_id, channel)
);

-- Raising the epoch voids every inbox at once.
CREATE TABLE inbox_epoch (
    is_only boolean PRIMARY KEY DEFAULT true CONSTRAINT inbox_epoch_one_row CHECK (is_only),
    epoch bigint NOT NULL
);
INSERT INTO inbox_epoch (epoch) VALUES (1);

-- Messages whose delivery is not known to be complete for every reader. Readers merge them.
CREATE TABLE in_flight (
    message_id bigint PRIMARY KEY,
    author_id bigint NOT NULL,
    channel text NOT NULL,
    delivered_at timestamptz
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX in_flight_of_author ON in_flight (author_id, channel, message_id);
CREATE INDEX in_flight_delivered ON in_flight (delivered_at) WHERE delivered_at IS NOT NULL;
