DROP TABLE in_flight;
DROP TABLE inbox_epoch;
DROP TABLE activity;
