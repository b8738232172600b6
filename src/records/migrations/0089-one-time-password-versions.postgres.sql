-- The same as PostgreSQL reads it: its triggers do what functions say.
INSERT INTO noun_versions (noun) VALUES ('totp_secrets');
CREATE FUNCTION totp_secrets_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'totp_secrets'; RETURN NEW; END $$;
CREATE TRIGGER totp_secrets_added AFTER INSERT ON totp_secrets FOR EACH ROW EXECUTE FUNCTION totp_secrets_added();
CREATE FUNCTION totp_secrets_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'totp_secrets'; RETURN NEW; END $$;
CREATE TRIGGER totp_secrets_changed AFTER UPDATE ON totp_secrets FOR EACH ROW EXECUTE FUNCTION totp_secrets_changed();
CREATE FUNCTION totp_secrets_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'totp_secrets'; RETURN OLD; END $$;
CREATE TRIGGER totp_secrets_removed AFTER DELETE ON totp_secrets FOR EACH ROW EXECUTE FUNCTION totp_secrets_removed();
