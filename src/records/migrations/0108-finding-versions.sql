-- Versions of the tables behind the counts of findings, so that a scrape of the metrics does not count all rows again.
INSERT INTO noun_versions (noun) VALUES ('matched_revisions'), ('package_findings');
CREATE TRIGGER matched_revisions_added AFTER INSERT ON passing_matched_revisions BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'matched_revisions'; END;
CREATE TRIGGER matched_revisions_changed AFTER UPDATE ON passing_matched_revisions BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'matched_revisions'; END;
CREATE TRIGGER matched_revisions_removed AFTER DELETE ON passing_matched_revisions BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'matched_revisions'; END;
CREATE TRIGGER package_findings_added AFTER INSERT ON package_findings BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'package_findings'; END;
CREATE TRIGGER package_findings_changed AFTER UPDATE ON package_findings BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'package_findings'; END;
CREATE TRIGGER package_findings_removed AFTER DELETE ON package_findings BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'package_findings'; END;
