-- Versions of the tables behind the counts of findings, so that a scrape of the metrics does not count all rows again.
INSERT INTO noun_versions (noun) VALUES ('matched_revisions'), ('package_findings');
CREATE FUNCTION matched_revisions_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'matched_revisions'; RETURN NEW; END $$;
CREATE TRIGGER matched_revisions_added AFTER INSERT ON passing_matched_revisions FOR EACH ROW EXECUTE FUNCTION matched_revisions_added();
CREATE FUNCTION matched_revisions_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'matched_revisions'; RETURN NEW; END $$;
CREATE TRIGGER matched_revisions_changed AFTER UPDATE ON passing_matched_revisions FOR EACH ROW EXECUTE FUNCTION matched_revisions_changed();
CREATE FUNCTION matched_revisions_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'matched_revisions'; RETURN OLD; END $$;
CREATE TRIGGER matched_revisions_removed AFTER DELETE ON passing_matched_revisions FOR EACH ROW EXECUTE FUNCTION matched_revisions_removed();
CREATE FUNCTION package_findings_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'package_findings'; RETURN NEW; END $$;
CREATE TRIGGER package_findings_added AFTER INSERT ON package_findings FOR EACH ROW EXECUTE FUNCTION package_findings_added();
CREATE FUNCTION package_findings_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'package_findings'; RETURN NEW; END $$;
CREATE TRIGGER package_findings_changed AFTER UPDATE ON package_findings FOR EACH ROW EXECUTE FUNCTION package_findings_changed();
CREATE FUNCTION package_findings_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'package_findings'; RETURN OLD; END $$;
CREATE TRIGGER package_findings_removed AFTER DELETE ON package_findings FOR EACH ROW EXECUTE FUNCTION package_findings_removed();
