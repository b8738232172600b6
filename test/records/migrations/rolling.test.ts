// Hosts are upgraded one after the other: a migration that releases before it could not work with says so, and waits until there are none.
import t from 'tap';

import { findIncompatibilityReason, migrations } from '#data/upgrade.ts';

/**
 * Changes that older releases can work with: new tables, columns with a default, triggers that raise a version, and these
 * functions of triggers, which write the same rows as before (test/records/figures.test.ts and the tests of catalog and deltas).
 */
const stood = [
  /^CREATE (?:TABLE|VIEW|INDEX|UNIQUE INDEX) /,
  /^ALTER TABLE \w+ ADD COLUMN \w+ (?![^;]*\bNOT NULL\b)/,
  /^ALTER TABLE \w+ ADD COLUMN \w+ [^;]*\bNOT NULL DEFAULT\b/,
  /^INSERT INTO /,
  /^CREATE FUNCTION \w+\(\) .* BEGIN UPDATE noun_versions SET version = version \+ 1 WHERE noun = '\w+'; RETURN \w+; END \$\$$/,
  /^CREATE OR REPLACE FUNCTION (?:package_counted|(?:catalog|delta)_release_(?:added|changed))\(\) RETURNS trigger /,
  /^CREATE TRIGGER (\w+) AFTER \w+ ON \w+ FOR EACH ROW EXECUTE FUNCTION \1\(\)$/,
];

/** The last migration that every store on a server has run: its older releases run none that came before. */
const first = '0095-since-first-release';

const statementsOf = (text: string): string[] =>
  text
    .replace(/^--.*$/gm, '')
    // The body of a function is one part of its statement.
    .replace(/\$\$[^$]*\$\$/g, (body) => body.replaceAll('\n', ' '))
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');

t.test('a migration that is not only additions states why it cannot run beside older releases', async (t) => {
  const later = migrations('postgres').filter(({ name }) => name > first);
  for (const { name, text } of later) {
    const others = statementsOf(text).filter((statement) => !stood.some((form) => form.test(statement)));
    if (others.length > 0) t.ok(findIncompatibilityReason(text), `${name}: ${others[0]!}`);
  }
  t.ok(findIncompatibilityReason('-- Not beside older releases: they write what is no longer there.\nDROP TABLE x;'));
  t.notOk(findIncompatibilityReason('ALTER TABLE x ADD COLUMN y INTEGER;'));
});
