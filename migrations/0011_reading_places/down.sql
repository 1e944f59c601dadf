DROP TABLE reading_places;
