-- Not beside older releases: they release snaps without the components that were pushed for them, and edit links without a note of it.
-- All changes since the release with the figures of packages, which were single migrations in states in between.
-- Joins: 0088-links-from-init 0089-one-time-password-versions 0090-history-of-releases 0091-released-components 0092-copied-source-keys
-- Joins: 0093-floors-reset 0094-licenses

-- A link that 'larder init' made for one of the first approvers: to set a password with it is no change of the account.
ALTER TABLE set_up_links ADD COLUMN from_init INTEGER NOT NULL DEFAULT 0 CHECK (from_init IN (0, 1));

-- A session counts only as long as its account has a one-time password, if the store asks for one: what is remembered of sessions
-- is made of these rows too.
INSERT INTO noun_versions (noun) VALUES ('totp_secrets');
CREATE TRIGGER totp_secrets_added AFTER INSERT ON totp_secrets BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'totp_secrets'; END;
CREATE TRIGGER totp_secrets_changed AFTER UPDATE ON totp_secrets BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'totp_secrets'; END;
CREATE TRIGGER totp_secrets_removed AFTER DELETE ON totp_secrets BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'totp_secrets'; END;

-- The history keeps all that a release gives to devices: resources, components of snaps, and its end.
ALTER TABLE past_releases ADD COLUMN resources TEXT;
ALTER TABLE past_releases ADD COLUMN expires_at TEXT;

-- A release fixes the components that it gives to devices.
-- So far devices were given the newest component that was pushed for a revision, released or not. Releases go on with the one of now.
UPDATE releases SET resources = (
  SELECT json_group_array(json_object('name', name, 'type', type, 'revision', given)) FROM (
    SELECT declared.name, declared.type, coalesce(
      (SELECT json_extract(one.value, '$.revision') FROM json_each(releases.resources) AS one
        WHERE json_extract(one.value, '$.name') = declared.name LIMIT 1),
      (SELECT max(component.revision) FROM resource_revisions AS component
        JOIN resource_pairs AS pair
          ON pair.package_id = component.package_id AND pair.name = component.name AND pair.revision = component.revision
        WHERE component.package_id = declared.package_id AND component.name = declared.name
          AND component.deleted_at IS NULL AND pair.package_revision = declared.revision)) AS given
    FROM declared_resources AS declared
    WHERE declared.package_id = releases.package_id AND declared.revision = releases.revision ORDER BY declared.name))
WHERE package_id IN (SELECT id FROM packages WHERE namespace = 'snap');

-- A device that stays on a revision which no channel holds any more goes on to get its components.
UPDATE past_releases SET resources = coalesce(
  (SELECT resources FROM releases
    WHERE releases.package_id = past_releases.package_id AND releases.revision = past_releases.revision LIMIT 1), (
  SELECT json_group_array(json_object('name', name, 'type', type, 'revision', given)) FROM (
    SELECT declared.name, declared.type,
      (SELECT max(component.revision) FROM resource_revisions AS component
        JOIN resource_pairs AS pair
          ON pair.package_id = component.package_id AND pair.name = component.name AND pair.revision = component.revision
        WHERE component.package_id = declared.package_id AND component.name = declared.name
          AND component.deleted_at IS NULL AND pair.package_revision = declared.revision) AS given
    FROM declared_resources AS declared
    WHERE declared.package_id = past_releases.package_id AND declared.revision = past_releases.revision
    ORDER BY declared.name)))
WHERE revision IS NOT NULL AND package_id IN (SELECT id FROM packages WHERE namespace = 'snap');

-- Which keys a source had before each rotation: two different rotations with one number prove that a key was copied.
ALTER TABLE transfer_sources ADD COLUMN keys_before TEXT NOT NULL DEFAULT '[]';
-- When that was proved; nothing of the source is accepted until people say which keys are right.
ALTER TABLE transfer_sources ADD COLUMN key_copied_at TEXT;

-- Accepted transfers whose numbers do not count for the floor of their source any more, because somebody has reset it.
ALTER TABLE transfers ADD COLUMN beyond_floor INTEGER NOT NULL DEFAULT 0 CHECK (beyond_floor IN (0, 1));

-- The license of a package follows its newest revision, and so do its links, until somebody edits them here. Links that are
-- here already were written by people, but for those of packages of other stores, which came with transfers.
ALTER TABLE packages ADD COLUMN license TEXT;
UPDATE packages
SET edited = CASE edited WHEN '[]' THEN '["links"]' ELSE substr(edited, 1, length(edited) - 1) || ',"links"]' END
WHERE links <> '{}' AND publisher_id NOT IN (SELECT id FROM accounts WHERE is_foreign = 1);
-- What is remembered of a package is read again when its license changes.
DROP TRIGGER packages_changed;
CREATE TRIGGER packages_changed AFTER UPDATE OF id, namespace, name, type, publisher_id, private, status, title, summary, description, default_track, links, license, icon, created_at, manual_review, edited ON packages BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'packages'; END;
