-- Not beside older releases: they release snaps without the components that were pushed for them.
-- A release fixes the components that it gives to devices.
-- So far devices were given the newest component that was pushed for a revision, released or not. Releases go on with the one of now.
UPDATE releases SET resources = (
  SELECT coalesce(json_agg(json_build_object('name', named.name, 'type', named.type, 'revision', named.given) ORDER BY named.name)::text, '[]') FROM (
    SELECT declared.name, declared.type, coalesce(
      (SELECT (one ->> 'revision')::bigint FROM json_array_elements(releases.resources::json) AS one
        WHERE one ->> 'name' = declared.name LIMIT 1),
      (SELECT max(component.revision) FROM resource_revisions AS component
        JOIN resource_pairs AS pair
          ON pair.package_id = component.package_id AND pair.name = component.name AND pair.revision = component.revision
        WHERE component.package_id = declared.package_id AND component.name = declared.name
          AND component.deleted_at IS NULL AND pair.package_revision = declared.revision)) AS given
    FROM declared_resources AS declared
    WHERE declared.package_id = releases.package_id AND declared.revision = releases.revision) AS named)
WHERE package_id IN (SELECT id FROM packages WHERE namespace = 'snap');

-- A device that stays on a revision which no channel holds any more goes on to get its components.
UPDATE past_releases SET resources = coalesce(
  (SELECT resources FROM releases
    WHERE releases.package_id = past_releases.package_id AND releases.revision = past_releases.revision LIMIT 1), (
  SELECT coalesce(json_agg(json_build_object('name', named.name, 'type', named.type, 'revision', named.given) ORDER BY named.name)::text, '[]') FROM (
    SELECT declared.name, declared.type,
      (SELECT max(component.revision) FROM resource_revisions AS component
        JOIN resource_pairs AS pair
          ON pair.package_id = component.package_id AND pair.name = component.name AND pair.revision = component.revision
        WHERE component.package_id = declared.package_id AND component.name = declared.name
          AND component.deleted_at IS NULL AND pair.package_revision = declared.revision) AS given
    FROM declared_resources AS declared
    WHERE declared.package_id = past_releases.package_id AND declared.revision = past_releases.revision) AS named))
WHERE revision IS NOT NULL AND package_id IN (SELECT id FROM packages WHERE namespace = 'snap');
