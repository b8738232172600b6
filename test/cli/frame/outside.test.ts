// Files that commands of root write outside of the data directory of another user: on a stick, or in the home of root.
import t from 'tap';
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { largeTest } from '#test/fixtures/large.ts';
import { errorNameIn } from '#test/fixtures/system-words.ts';
import { folder, newStore, start, withoutOthers } from '#test/cli/process.ts';

t.setTimeout(600_000);

const larderUser = 1234;

function giveAway(path: string): void {
  chownSync(path, larderUser, larderUser);
  if (!statSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) giveAway(join(path, name));
}

const ownersBelow = (path: string): number[] => [
  ...new Set([
    statSync(path).uid,
    ...readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => statSync(join(path, name)).uid),
  ]),
];

t.test(
  'root backs up and exports to places that the user of the store may not write',
  { skip: withoutOthers() },
  async (t) => {
    const { data, larder } = await newStore(t);
    await larder('brand create --account larder-admin --name Acme');
    await larder('key create larder-admin serial-key');
    giveAway(data);
    chmodSync(join(data, '..'), 0o755);
    const stick = join(folder(t), 'stick');
    mkdirSync(stick, { mode: 0o755 });
    chmodSync(join(stick, '..'), 0o755);
    for (const words of [
      ['backup', `${stick}/monday.tar`],
      ['backup', `${stick}/tuesday.tar`, '--since', `${stick}/monday.tar`],
      ['backup', '--check', `${stick}/monday.tar`],
      ['key', 'request', 'serial-key', '--brand', 'larder-admin', '--local', '--folder', `${stick}/out`],
      ['audit', 'export', `${stick}/audit.jsonl`],
      ['admin-macaroon', '--add', '--file', `${stick}/second.macaroon`],
      ['restore', `${stick}/monday.tar`, '--missing'],
    ]) {
      const { code, err } = await start(t, [...words, '--data', data]).ended;
      t.equal(code, 0, `larder ${words.join(' ')}: ${err}`);
    }
    t.strictSame(ownersBelow(data), [larderUser], 'nothing in the store is root’s');
    t.strictSame(ownersBelow(stick), [0], 'and what was carried out is');
    const files = ['audit.jsonl', 'monday.tar', 'out', 'second.macaroon', 'tuesday.tar'];
    t.strictSame(readdirSync(stick).sort(), files, 'and nothing else');
  },
);

largeTest('files that root restores belong to the owner of the directory', { skip: withoutOthers() }, async (t) => {
  const { data, larder } = await newStore(t);
  const place = folder(t);
  chmodSync(place, 0o700);
  t.equal((await larder(`backup ${place}/monday.tar`)).code, 0);
  const target = join(folder(t), 'store');
  chmodSync(join(target, '..'), 0o755);
  mkdirSync(target, { mode: 0o700 });
  chownSync(target, larderUser, larderUser);
  const { code, err } = await start(t, ['restore', `${place}/monday.tar`, '--keys', data, '--data', target]).ended;
  t.equal(code, 0, `from a folder that is root’s alone: ${err}`);
  t.strictSame(ownersBelow(target), [larderUser]);
});

t.test('a file that cannot be written is reported without the error text of the system', async (t) => {
  const { data, larder } = await newStore(t);
  const place = folder(t);
  writeFileSync(join(place, 'file'), '');
  await larder('brand create --account larder-admin --name Acme');
  await larder('key create larder-admin serial-key');
  for (const [line, path] of [
    ['backup', `${place}/none/monday.tar`],
    ['audit export', `${place}/none/audit.jsonl`],
    ['audit export', `${place}/file`],
    ['admin-macaroon --add --file', `${place}/none/second.macaroon`],
    ['key request serial-key --brand larder-admin --local --folder', `${place}/file/out`],
  ] as const) {
    const { code, out, err } = await larder(`${line} ${path}`);
    t.strictSame({ code, out }, { code: 1, out: '' }, line);
    t.match(err, `larder: cannot write ${path}: `);
    t.equal(errorNameIn(err), undefined, err);
    t.notMatch(err, /errno/, err);
  }
  t.strictSame(readdirSync(place), ['file']);
  t.match(await larder('audit list --action backup'), { out: 'The audit log has no such entries.\n' });
  t.ok(statSync(data).isDirectory());
});
