-- Credentials to pull an image end when somebody ends them; a repository has one at a time that does not.
ALTER TABLE image_credentials ADD COLUMN ends_at TEXT;

DROP INDEX image_credentials_to_pull;
CREATE UNIQUE INDEX image_credentials_to_pull ON image_credentials (package_id, resource)
  WHERE kind = 'pull' AND ends_at IS NULL;
