-- What is said of a package follows what is uploaded until somebody edits it here. Whether somebody had, the audit log knows.
ALTER TABLE packages ADD COLUMN edited TEXT NOT NULL DEFAULT '[]';

UPDATE packages SET edited = known.edited
FROM (
  SELECT package.id, json_group_array(DISTINCT member.value) AS edited
  FROM audit
  JOIN json_each(audit.details, '$.members') AS member
  JOIN packages AS package
    ON package.namespace = substr(audit.object, 1, instr(audit.object, '/') - 1)
    AND package.name = substr(audit.object, instr(audit.object, '/') + 1)
  WHERE audit.action = 'update_package_metadata' AND audit.at >= package.created_at
    AND (member.value = 'title' AND package.title IS NOT NULL
      OR member.value = 'summary' AND package.summary IS NOT NULL
      OR member.value = 'description' AND package.description IS NOT NULL)
  GROUP BY package.id
) AS known
WHERE known.id = packages.id;
