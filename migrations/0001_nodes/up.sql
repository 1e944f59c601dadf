-- One row a node number that was ever leased. The id generator of a process owns its number until
-- leased_until and never makes an id later than high_water (milliseconds since the Unix epoch).
CREATE TABLE nodes (
    node smallint PRIMARY KEY CONSTRAINT nodes_node_range CHECK (node BETWEEN 0 AND 1023),
    holder uuid NOT NULL,
    leased_until timestamptz NOT NULL,
    high_water bigint NOT NULL
);
