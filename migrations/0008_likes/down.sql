DROP TABLE message_counters;
DROP TABLE likes;
