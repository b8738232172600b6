-- The images of a resource that another registry keeps, by the digest of their manifest: that registry has told of them,
-- or, where it tells nothing, whoever published them.
CREATE TABLE external_images (
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  resource   TEXT NOT NULL,
  registry   TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  told_at    TEXT NOT NULL,
  PRIMARY KEY (package_id, resource, sha256, registry)
);

CREATE INDEX external_images_by_registry ON external_images (registry);
