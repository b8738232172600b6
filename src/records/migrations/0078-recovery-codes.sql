-- What lets somebody in once in the place of a one-time password, whose authenticator is lost: a JSON list of digests.
ALTER TABLE totp_secrets ADD COLUMN recovery TEXT NOT NULL DEFAULT '[]';
