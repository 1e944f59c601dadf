DROP TABLE refresh_tokens;
DROP TABLE sessions;
DROP TABLE user_counters;
DROP TABLE credentials;
DROP TABLE users;
