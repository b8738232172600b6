-- Each of these says what another one says already: lower(email) is in accounts_by_email, and brands_by_administrator begins with
-- the account.
DROP INDEX accounts_by_address;
DROP INDEX brand_administrators_by_account;
