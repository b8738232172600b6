-- A session counts only as long as its account has a one-time password, if the store asks for one: what is remembered of sessions
-- is made of these rows too.
INSERT INTO noun_versions (noun) VALUES ('totp_secrets');
CREATE TRIGGER totp_secrets_added AFTER INSERT ON totp_secrets BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'totp_secrets'; END;
CREATE TRIGGER totp_secrets_changed AFTER UPDATE ON totp_secrets BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'totp_secrets'; END;
CREATE TRIGGER totp_secrets_removed AFTER DELETE ON totp_secrets BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'totp_secrets'; END;
