-- Which manifests an index names: they stay as long as it does. One that names none stands for itself here, so that every
-- index has a row once it was read.
CREATE TABLE image_children (
  package_id TEXT NOT NULL,
  resource   TEXT NOT NULL,
  manifest   TEXT NOT NULL,
  child      TEXT NOT NULL,
  PRIMARY KEY (package_id, resource, manifest, child),
  FOREIGN KEY (package_id, resource, manifest) REFERENCES image_manifests (package_id, resource, sha256) ON DELETE CASCADE
);

CREATE INDEX image_children_by_child ON image_children (package_id, resource, child);

-- Manifests that are about another one, such as its signature or its list of parts. That one need not be there.
CREATE TABLE image_referrers (
  package_id    TEXT NOT NULL,
  resource      TEXT NOT NULL,
  manifest      TEXT NOT NULL,
  subject       TEXT NOT NULL,
  artifact_type TEXT NOT NULL,
  annotations   TEXT,
  PRIMARY KEY (package_id, resource, manifest),
  FOREIGN KEY (package_id, resource, manifest) REFERENCES image_manifests (package_id, resource, sha256) ON DELETE CASCADE
);

CREATE INDEX image_referrers_by_subject ON image_referrers (package_id, resource, subject, manifest);

-- Which image the content of a resource names, by the content's sha3-384; null when it names none.
CREATE TABLE image_mentions (
  content  TEXT PRIMARY KEY,
  manifest TEXT
);

CREATE INDEX image_mentions_by_manifest ON image_mentions (manifest);

CREATE INDEX resource_revisions_by_type ON resource_revisions (type, sha3_384);

CREATE INDEX image_manifests_by_age ON image_manifests (pushed_at);

CREATE INDEX image_manifests_by_type ON image_manifests (media_type);
