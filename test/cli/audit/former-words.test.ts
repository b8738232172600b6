// A store that was made before the words of the audit log had one grammar: it is proved, listed and exported like any other.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { csvLine } from '#cli/audit/report-csv.ts';
import type { AuditRow } from '#records/audit/audit.ts';
import { writeOlderFiles } from '#test/fixtures/records/older-stores.ts';
import { commandsOn, folder } from '../process.ts';

/** Writes the files of a store that was made before the words had one grammar. */
const write = (t: Test): string => writeOlderFiles(folder(t), '06869912');

interface Entry extends Omit<AuditRow, 'sessionId' | 'requestId' | 'details'> {
  act?: string;
  'session-id': string | null;
  'request-id': string | null;
  details: unknown;
}

/** Computes the hash of an entry from its members, as an inspector does without larder. */
const hashOf = (entry: Entry): string => {
  const { previous, seq, at, actor, action, object, details, outcome } = entry;
  const members = [previous, seq, at, actor, entry['session-id'], action, object, entry['request-id']];
  return createHash('sha256')
    .update(JSON.stringify([...members, JSON.stringify(details), outcome]))
    .digest('hex');
};

const entriesIn = (file: string): Entry[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Entry);

/** Asserts that each entry has its hash and follows the one before it. */
function follow(t: Test, entries: readonly Entry[]): void {
  t.ok(entries.length > 0);
  entries.forEach((entry, at) => {
    t.equal(entry.hash, hashOf(entry), `entry ${String(entry.seq)}`);
    if (at > 0) t.equal(entry.previous, entries[at - 1]?.hash);
  });
}

t.test('the log of an older store is proved, and lists the names of the acts', async (t) => {
  const place = write(t);
  const { larder, json } = commandsOn(join(place, 'store'));
  const written = entriesIn(join(place, 'audit.jsonl'));
  const last = written.at(-1)!;
  const proved = await larder(`audit verify --head ${String(last.seq)}:${last.hash} --since ${place}/monday.tar`);
  t.match(proved, { code: 0, out: /is intact: \d+ entries.*Row 9 of \S+ is 'restore_store'/s });
  t.match(await json('audit verify'), { good: true, 'begun-anew': [{ seq: 9, by: 'restore' }] });
  t.match(await larder('verify'), { code: 0 });

  const { out } = await larder('audit list --limit 100');
  for (const word of ['create_store', 'change_role', 'make_backup', 'restore_store']) t.match(out, ` ${word} `);
  t.notMatch(out, / (?:init|account role|backup|restore) /);
  const { entries } = (await json('audit list --limit 100')) as { entries: Entry[] };
  t.match(entries[2], { act: 'change_role', action: 'account role' });
  t.match(entries[3], { act: 'rotate_root_key', action: 'rotate_root_key' });
  follow(t, entries);

  t.match(await json('status'), { 'last-backup': /^2026-11-26T12:03:38/ }, 'a backup under its former word counts');
});

t.test(
  'a filter accepts the name of an act and each former word, and finds entries from before and after',
  async (t) => {
    const { larder, json } = commandsOn(join(write(t), 'store'));
    t.equal((await larder('account role ada auditor --remove --yes')).code, 0);
    t.equal((await larder('audit verify')).code, 0);
    for (const word of ['change_role', "'account role'"]) {
      t.match((await json(`audit list --action ${word}`)).entries, [
        { seq: 3, act: 'change_role', action: 'account role' },
        { seq: 13, act: 'change_role', action: 'account role' },
        { act: 'change_role', action: 'change_role' },
      ]);
    }
    t.match(await json("audit list --action 'review approve'"), { entries: [] });
    t.match(await json("audit list --action 'key rotate'"), { entries: [] });
    for (const [word, near] of [
      ['acount_role', 'change_role'],
      ['crate_account', 'create_account'],
      ['REGISTER_NAME', 'register_name'],
    ] as const)
      t.match(await larder(`audit list --action ${word}`), { code: 2, out: '', err: `Did you mean '${near}'?` });
    for (const word of ['constructor', '__proto__', 'x'.repeat(100_000)])
      t.match(await larder(`audit list --action ${word}`), { code: 2, out: '', err: '/docs/audit lists the acts' });
  },
);

t.test('an export of the same entries is the same bytes as before, and can be checked without larder', async (t) => {
  const place = write(t);
  const { larder, json } = commandsOn(join(place, 'store'));
  t.equal((await larder('account role ada auditor --remove --yes')).code, 0);
  t.match(await larder(`audit export ${place}/again.jsonl`), { code: 0 });
  const [before, after] = [join(place, 'audit.jsonl'), join(place, 'again.jsonl')];
  t.ok(readFileSync(after, 'utf8').startsWith(readFileSync(before, 'utf8')));
  follow(t, entriesIn(before));
  follow(t, entriesIn(after));
  t.equal(entriesIn(after).at(-1)?.action, 'change_role');
  t.match(
    entriesIn(after)
      .slice(0, 4)
      .map(({ action }) => action),
    ['init', 'account create', 'account role', 'rotate_root_key'],
  );

  const report = await json(`audit report --from 2026-01-01 --csv ${place}/again.csv --html ${place}/again.html`);
  const csv = readFileSync(join(place, 'again.csv'), 'utf8');
  t.ok(
    csv.startsWith(readFileSync(join(place, 'audit.csv'), 'utf8')),
    'lines have the hash, so they have the word of it',
  );
  t.match(
    csv,
    csvLine({
      ...entriesIn(after)[2]!,
      sessionId: null,
      requestId: null,
      details: '{"role":"auditor","removed":false}',
    }),
  );
  const changes = report.doings.filter(({ action }: { action: string }) => /role/.test(action)) as {
    action: string;
    count: number;
  }[];
  // The kept rows are of root, the new one of the user who runs this.
  t.strictSame(new Set(changes.map(({ action }) => action)), new Set(['change_role']));
  t.equal(
    changes.reduce((sum, { count }) => sum + count, 0),
    3,
    'both words are counted together',
  );
  t.match(readFileSync(join(place, 'again.html'), 'utf8'), /<td>create_account<\/td>(?![^]*<td>account create<\/td>)/);
});

t.test('a backup of an older release is checked, and restored long after its last seal', async (t) => {
  const place = write(t);
  const { larder } = commandsOn(join(place, 'store'));
  t.match(await larder(`backup --check ${place}/monday.tar`), { code: 0 });
  const again = commandsOn(join(place, 'again'));
  t.match(await larder(`restore ${place}/monday.tar --data ${place}/again --keys ${place}/store`), { code: 0 });
  t.match(await again.json('audit verify'), { good: true, 'begun-anew': [{ by: 'restore' }, { by: 'restore_store' }] });
  t.match(await again.json('audit list --action restore'), {
    entries: [{ action: 'restore' }, { action: 'restore_store' }],
  });
});
