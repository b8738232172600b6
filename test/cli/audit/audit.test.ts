// larder audit list, export, verify, accept
import t from 'tap';
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';

import { csvLine } from '#cli/audit/report-csv.ts';
import { openStore } from '#test/fixtures/records/writable.ts';
import { folder } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';

async function world(t: { teardown(work: () => unknown): unknown }): Promise<string> {
  const data = join(folder(t), 'data');
  await larder(`init --data ${data}`);
  await larder(`account create --data ${data} --username ada --display-name Ada --email ada@example.org`);
  await larder(`package register --data ${data} snap/hello --publisher ada`);
  return data;
}

t.test('the log has actors and acts, can be exported, and is proved to be intact', async (t) => {
  const data = await world(t);
  const listed = await larder(`audit list --data ${data}`);
  t.equal(listed.code, 0);
  t.match(listed.out, /^Seq +Time +Who +Action +Object +Outcome +Details/);
  t.match(listed.out, /cli:\S+ +create_store +account\/larder-admin/);
  const some = await larder(`audit list --data ${data} --action init --json`);
  t.match(JSON.parse(some.out), { entries: [{ seq: 1, action: 'create_store', outcome: 'done', details: {} }] });
  t.match(await larder(`audit list --data ${data} --outcome refused`), { out: 'The audit log has no such entries.\n' });

  const verified = await larder(`audit verify --data ${data}`);
  t.match(verified.out, /^The audit log is intact: \d+ entries/);
  const [, head = ''] = /head is (\S+)/.exec(verified.out) ?? [];
  t.match(await larder(`audit verify --data ${data} --head ${head} --quiet`), { code: 0, out: '', err: '' });
  t.match(await larder(`audit verify --data ${data} --head 99:${'0'.repeat(64)}`), {
    code: 1,
    out: /row 99 was expected/,
  });
  t.match(await larder(`audit verify --data ${data} --head nonsense`), { code: 2, err: /SEQ:HASH/ });

  const file = join(data, '..', 'audit.jsonl');
  t.equal((await larder(`audit export --data ${data} ${file}`)).code, 0);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  t.match(JSON.parse(lines[0]!), { seq: 1, actor: /^cli:/, action: 'create_store', hash: /^[0-9a-f]{64}$/ });
  t.match(await larder(`audit export --data ${data} ${file}`), { code: 1 }, 'a file that is there is not overwritten');
});

t.test('a changed log is invalid, with its exit code', async (t) => {
  const data = await world(t);
  const db = new SQLite(join(data, 'larder.db'));
  db.exec(`DROP TRIGGER audit_is_append_only_update; UPDATE audit SET actor = 'bob' WHERE seq = 1`);
  db.close();
  t.match(await larder(`audit verify --data ${data} --json`), {
    code: 1,
    out: /"good":false.*row 1 was changed after it was written/,
  });
});

const verdict = async (line: string): Promise<{ good: boolean; problems: string[]; 'begun-anew': unknown[] }> =>
  JSON.parse((await larder(`audit verify ${line} --json`)).out) as never;

t.test('a data directory that was restored as a whole is detected by the head in a backup', async (t) => {
  const data = await world(t);
  const [earlier, monday] = [join(data, '../earlier'), join(data, '../monday.tar')];
  cpSync(data, earlier, { recursive: true });
  const create = (name: string) =>
    larder(`account create --data ${data} --username ${name} --display-name ${name} --email ${name}@site.example`);
  await create('bob');
  t.match(await larder(`backup ${monday} --data ${data}`), { code: 0 });
  await create('carol');
  t.match(await larder(`audit verify --data ${data} --since ${monday}`), { code: 0, out: /^The audit log is intact/ });

  t.match(await verdict(`--data ${earlier}`), { good: true }, 'from within nothing is to be seen');
  t.match(await verdict(`--data ${earlier} --since ${monday}`), {
    good: false,
    problems: [/^the log is cut off after row \d+; row \d+ was expected$/],
  });
  t.match(await larder(`audit verify --data ${data} --since ${data}/none.tar`), { code: 1, err: /there is no backup/ });
  t.match(await larder(`audit verify --data ${data} --since ${data}/larder.toml`), { code: 1, err: /larder\.toml/ });
  const stranger = await world(t);
  t.match(await larder(`audit verify --data ${stranger} --since ${monday}`), {
    code: 1,
    err: /was not made with this site key/,
  });
});

t.test('a database that was restored by hand is reported, until an administrator accepts it', async (t) => {
  const data = await world(t);
  const copy = join(data, '../larder.db');
  copyFileSync(join(data, 'larder.db'), copy);
  const store = await openStore({ directory: data });
  await store.records.change({ at: new Date().toISOString(), actor: 'test', action: 'try', object: 'x' }, () =>
    Promise.resolve(),
  );
  await store.records.seal();
  await store.close();
  t.match(await larder(`audit accept --data ${data} --yes`), { code: 1, err: /the audit log has no errors/ });
  t.match(await verdict(`--data ${data}`), { good: true });

  const { seq } = JSON.parse(readFileSync(join(data, 'audit.seal'), 'utf8')) as { seq: number };
  t.match(await larder(`audit accept --data ${data}`), { code: 2 }, 'not without asking');
  copyFileSync(copy, join(data, 'larder.db'));
  const result = await verdict(`--data ${data}`);
  t.match(result, {
    good: false,
    problems: [
      /^the last rows of the audit log were removed, or the database is an older copy: the seal in .* covers the log up to row/,
    ],
  });
  t.match(await larder(`audit accept --data ${data} --yes`), { code: 0, out: /^The audit log continues from row \d+/ });
  t.match(await verdict(`--data ${data}`), {
    good: true,
    'begun-anew': [{ by: 'accept_audit_log', 'left-behind': { seq } }],
  });
  t.match(
    (await larder(`audit verify --data ${data}`)).out,
    /continues from an earlier state there. The log before it reached/,
  );
});

t.test(
  'a restored backup names the entries that it leaves behind, if the newest seal was kept with the keys',
  async (t) => {
    const data = await world(t);
    const monday = join(data, '../monday.tar');
    await larder(`backup ${monday} --data ${data}`);
    const safe = join(data, '../safe');
    mkdirSync(safe);
    for (const key of ['site.key', 'master.key']) copyFileSync(join(data, key), join(safe, key));
    const again = join(data, '../again');
    t.match(await larder(`restore ${monday} --keys ${safe} --data ${again}`), { code: 0 });
    t.match(await verdict(`--data ${again}`), {
      good: true,
      'begun-anew': [{ by: 'restore_store', 'left-behind': null }],
    });
    rmSync(again, { recursive: true });

    const { records, close } = await openStore({ directory: data });
    const at = new Date().toISOString();
    await records.change({ at, actor: 'test', action: 'try', object: 'x' }, () => Promise.resolve());
    await records.seal();
    const lost = await records.audit.head();
    await close();
    copyFileSync(join(data, 'audit.seal'), join(safe, 'audit.seal'));
    t.match(await larder(`restore ${monday} --keys ${safe} --data ${again}`), { code: 0 });
    t.match(await verdict(`--data ${again}`), {
      good: true,
      'begun-anew': [{ by: 'restore_store', 'left-behind': { seq: lost!.seq, hash: lost!.hash } }],
    });
    const { entries } = JSON.parse((await larder(`audit list --data ${again} --action restore --json`)).out) as {
      entries: unknown[];
    };
    t.match(entries, [{ details: { 'left-behind': { seq: lost!.seq } } }]);
  },
);

t.test('a report covers a period: acts and actors, exports, and whether the log is intact', async (t) => {
  const data = await world(t);
  const place = join(data, '..');
  const hostile = `<script>alert(1)</script>`;
  const { accounts } = JSON.parse((await larder(`account list --data ${data} --json`)).out) as {
    accounts: { id: string; username: string }[];
  };
  const ada = accounts.find(({ username }) => username === 'ada')?.id ?? '';
  t.equal((await larder(`brand create --data ${data} --account ${ada} --name '${hostile}'`)).code, 0);
  t.equal((await larder(`audit export --data ${data} ${join(place, 'audit.jsonl')}`)).code, 0);
  const digest = createHash('sha256')
    .update(readFileSync(join(place, 'audit.jsonl')))
    .digest('hex');
  t.equal((await larder(`backup --data ${data} ${join(place, 'backup.tar')}`)).code, 0);
  const report = (rest: string) => larder(`audit report --data ${data} --from 2020-01-01 ${rest}`);

  const { exports, doings, problems } = JSON.parse((await report('--json')).out) as Record<string, object[]>;
  t.same(problems, []);
  t.match(exports, [
    { what: 'backup', actor: /^cli:/ },
    { what: 'audit log', sha256: digest },
  ]);
  const backup = readFileSync(join(place, 'backup.tar'));
  t.match(exports?.[0], { bytes: backup.length, sha256: createHash('sha256').update(backup).digest('hex') });
  t.match(doings?.[0], { outcome: 'done', count: 1 });
  t.match(await report(''), { code: 0, out: /WHO +ACTION[^]*create_account +done +1[^]*backup[^]*audit log/ });

  const page = join(place, 'report.html');
  t.equal((await report(`--html ${page} --csv ${join(place, 'report.csv')}`)).code, 0);
  const html = readFileSync(page, 'utf8');
  t.match(
    html,
    /^<!doctype html>[^]*The audit log is intact[^]*Exported files[^]*create_brand[^]*alert\(1\)[^]*<\/html>\n$/,
  );
  t.notMatch(html, hostile, 'what people wrote is text');
  const lines = readFileSync(join(place, 'report.csv'), 'utf8').trimEnd().split('\r\n');
  t.match(lines[0], /^seq,at,actor/);
  t.match(lines[1], /^"1","\d{4}-[^"]+","cli:/);
  const later = JSON.parse((await report('--json')).out) as { exports: object[]; entries: number };
  t.match(later.exports.length, 4, 'the page and the lines have left, too');
  t.match(await report(`--html ${page}`), { code: 1 }, 'a file that is there is not overwritten');
  t.match(await larder(`audit report --data ${data} --from 2020-01-01 --to 2020-02-01`), { out: /: 0 entries/ });
  for (const line of ['--from yesterday', '--from 2020-01-02 --to 2020-01-01', '--from 2020-13-01', '']) {
    t.equal((await larder(`audit report --data ${data} ${line}`)).code, 2, line);
  }
});

t.test('a spreadsheet takes nothing that people wrote for a formula', (t) => {
  const row = { seq: 1, at: '', actor: '=1+1', sessionId: null, action: '', object: '@x', requestId: null };
  const line = csvLine({ ...row, details: '{"a":"b"}', previous: '', hash: '', outcome: null });
  t.match(line, `"'=1+1"`);
  t.match(line, `"'@x"`);
  t.match(line, `"{""a"":""b""}"`);
  t.end();
});
