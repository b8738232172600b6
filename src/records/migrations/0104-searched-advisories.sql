-- Not beside older releases: they write the table and the columns that are dropped.
-- Advisories are found by their packages and their ids, never by another name; of an exploited vulnerability the number is enough.
DROP TABLE passing_advisory_names;
ALTER TABLE passing_exploited_vulnerabilities DROP COLUMN added_on;
ALTER TABLE passing_exploited_vulnerabilities DROP COLUMN due_on;
ALTER TABLE passing_exploited_vulnerabilities DROP COLUMN is_ransomware;
ALTER TABLE passing_exploited_vulnerabilities DROP COLUMN name;
