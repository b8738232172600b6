-- What a snap's channels hold is remembered for devices until a release changes it.
INSERT INTO noun_versions (noun) VALUES ('releases');
CREATE TRIGGER releases_added AFTER INSERT ON releases BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'releases'; END;
CREATE TRIGGER releases_changed AFTER UPDATE ON releases BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'releases'; END;
CREATE TRIGGER releases_removed AFTER DELETE ON releases BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'releases'; END;
