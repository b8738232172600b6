-- Validation sets are listed by whose they are, and the newest sequence of each is asked for.
ALTER TABLE assertions ADD COLUMN set_name TEXT;
ALTER TABLE assertions ADD COLUMN sequence INTEGER;

-- Their names are validation-set/16/ACCOUNT/NAME/SEQUENCE, and none of these parts holds a slash.
WITH RECURSIVE
  sets (name, rest, number, account_id, set_name) AS (
    SELECT name, substr(name, length('validation-set/16/') + 1), 0, NULL, NULL
    FROM assertions WHERE type = 'validation-set'
    UNION ALL
    SELECT name, substr(rest, instr(rest, '/') + 1), number + 1,
      CASE number WHEN 0 THEN substr(rest, 1, instr(rest, '/') - 1) ELSE account_id END,
      CASE number WHEN 1 THEN substr(rest, 1, instr(rest, '/') - 1) ELSE set_name END
    FROM sets WHERE number < 2
  )
UPDATE assertions SET account_id = sets.account_id, set_name = sets.set_name, sequence = CAST(sets.rest AS INTEGER)
FROM sets WHERE sets.name = assertions.name AND sets.number = 2;

CREATE INDEX validation_sets ON assertions (account_id, set_name, sequence) WHERE set_name IS NOT NULL;
CREATE INDEX brands_by_administrator ON brand_administrators (account_id, brand_account_id);
