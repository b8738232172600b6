// What is done to the database behind larder's back is found, in its rows as in its pages.
import t from 'tap';
import { randomInt } from 'node:crypto';
import { closeSync, copyFileSync, mkdtempSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';

import { checkDatabase, copyDatabase } from '#records/check.ts';
import { openRecords } from '#src/appliance.ts';
import { filler } from '#test/fixtures/filler.ts';

const long = process.env['LARDER_LONG'] === '1';
const flips = long ? 2000 : 200;

async function filled(t: { teardown(work: () => unknown): void }): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'larder-digests-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const { records, close } = await openRecords(directory);
  const at = '2026-03-01T12:00:00.000Z';
  await records.change({ at, actor: 'test', action: 'fill', object: 'all' }, async (tx) => {
    for (let number = 0; number < 300; number++) {
      await filler(tx, at).account(`account-${number}`, `user-${number}`);
    }
  });
  await close();
  return join(directory, 'larder.db');
}

t.test('what larder has written is good, also after it changed and removed rows', async (t) => {
  const file = await filled(t);
  t.strictSame(checkDatabase(file), []);
  const { records, close } = await openRecords(join(file, '..'));
  const at = '2026-03-01T12:00:00.000Z';
  await records.change({ at, actor: 'test', action: 'change', object: 'all' }, async (tx) => {
    await tx.accounts.makeStoreAdministrator('account-1', at);
    await tx.appliance.set('latest-time', at);
    await tx.appliance.set('latest-time', `${at}!`);
    await tx.damagedBlobs.add({ sha3_384: '0'.repeat(96), size: 1, foundAt: at });
    await tx.damagedBlobs.mended('0'.repeat(96));
  });
  await close();
  t.strictSame(checkDatabase(file), []);
});

t.test('a row that was changed, added or taken away by anybody else is named', async (t) => {
  const file = await filled(t);
  const db = new SQLite(file);
  db.exec(`UPDATE accounts SET email = 'mallory@example.com' WHERE id = 'account-7';
    DELETE FROM accounts WHERE id = 'account-9';
    INSERT INTO appliance (name, value) VALUES ('latest-time', 'x')`);
  db.close();
  t.match(checkDatabase(file).sort(), [
    /^row 1 of appliance is not written by larder$/,
    /^row 10 of accounts is missing$/,
    /^row 8 of accounts is changed$/,
  ]);
});

t.test('tables that are not as larder made them are named', async (t) => {
  const file = await filled(t);
  const db = new SQLite(file);
  db.exec('DROP TRIGGER audit_is_append_only_update');
  db.close();
  t.strictSame(checkDatabase(file), ['row 0 of sqlite_master is changed']);
});

t.test('every bit that turns over in what the database holds is found', async (t) => {
  const original = await filled(t);
  const file = `${original}.copy`;
  await copyDatabase(original, file);
  const pristine = dump(file);
  const size = statSync(file).size;
  const missed: string[] = [];
  let harmless = 0;
  for (let number = 0; number < flips; number++) {
    const damaged = `${original}.damaged`;
    copyFileSync(file, damaged);
    const [at, bit] = [randomInt(size), randomInt(8)];
    flip(damaged, at, bit);
    if (checkDatabase(damaged).length > 0) continue;
    // Free space and counters in the header hold nothing: then every row reads as before.
    if (dump(damaged) === pristine) harmless++;
    else missed.push(`bit ${bit} of byte ${at}`);
  }
  t.strictSame(missed, []);
  t.comment(`${flips} flips, ${harmless} of them in bytes that mean nothing`);
});

/** Every row but those of the audit log, whose chain is another check, as one text. */
function dump(file: string): string {
  const db = new SQLite(file, { readonly: true });
  try {
    const tables = db
      .prepare<[], { name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`)
      .all();
    const checked = tables.filter(({ name }) => !/^(audit|migrations|row_digest)/.test(name));
    return checked
      .map(({ name }) => JSON.stringify(db.prepare(`SELECT * FROM "${name}" ORDER BY rowid`).all()))
      .join('\n');
  } finally {
    db.close();
  }
}

function flip(file: string, at: number, bit: number): void {
  const handle = openSync(file, 'r+');
  const byte = Buffer.alloc(1);
  readSync(handle, byte, 0, 1, at);
  byte[0]! ^= 1 << bit;
  writeSync(handle, byte, 0, 1, at);
  closeSync(handle);
}
