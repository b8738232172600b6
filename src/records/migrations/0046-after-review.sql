-- What whoever pushed an upload wants done once it is a revision: components to come beside it, channels to hold it. Done, or
-- refused with a reason, it is settled.
CREATE TABLE after_review (
  upload_id     TEXT NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
  kind          TEXT NOT NULL CHECK (kind IN ('component', 'channel')),
  name          TEXT NOT NULL,
  component     TEXT,
  only_if_newer INTEGER NOT NULL CHECK (only_if_newer IN (0, 1)),
  wanted_by     TEXT NOT NULL,
  session_id    TEXT,
  request_id    TEXT,
  settled       INTEGER NOT NULL DEFAULT 0 CHECK (settled IN (0, 1)),
  error         TEXT,
  PRIMARY KEY (upload_id, kind, name)
);

CREATE INDEX after_review_waiting ON after_review (upload_id) WHERE settled = 0;
