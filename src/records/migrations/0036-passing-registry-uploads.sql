-- Blobs of images on their way: how much of each has come. One request sends at a time; whose process died lets go by itself.
CREATE TABLE passing_registry_uploads (
  id            TEXT NOT NULL PRIMARY KEY CHECK (length(id) <= 64),
  repository    TEXT NOT NULL CHECK (length(repository) <= 400),
  account_id    TEXT CHECK (length(account_id) <= 64),
  size          INTEGER NOT NULL CHECK (size >= 0),
  sender        TEXT CHECK (length(sender) <= 64),
  sending_until TEXT,
  ends_at       TEXT NOT NULL
) STRICT;
CREATE INDEX passing_registry_uploads_of_repository ON passing_registry_uploads (repository, ends_at);
CREATE INDEX passing_registry_uploads_by_end ON passing_registry_uploads (ends_at);
