-- A login names an account by its e-mail address in any case, and an account's roles are asked for by the account.
CREATE INDEX accounts_by_email ON accounts (lower(email));

CREATE INDEX brand_administrators_by_account ON brand_administrators (account_id);
