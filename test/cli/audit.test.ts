// larder audit list, export, verify
import t from 'tap';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';

import { folder } from './process.ts';
import { larder } from './world.ts';

async function world(t: { teardown(work: () => unknown): unknown }): Promise<string> {
  const data = join(folder(t), 'data');
  await larder(`init --data ${data}`);
  await larder(`account create --data ${data} --username ada --email ada@example.org`);
  await larder(`package register --data ${data} snap/hello --publisher ada`);
  return data;
}

t.test('the log says who did what, can be written out, and is proved whole', async (t) => {
  const data = await world(t);
  const listed = await larder(`audit list --data ${data}`);
  t.equal(listed.code, 0);
  t.match(listed.out, /^Seq +Time +Who +Action +Object +Outcome +Details/);
  t.match(listed.out, /cli:\S+ +init +account\/larder-admin/);
  const some = await larder(`audit list --data ${data} --action init --json`);
  t.match(JSON.parse(some.out), { entries: [{ seq: 1, action: 'init', outcome: 'done', details: {} }] });
  t.match(await larder(`audit list --data ${data} --outcome refused`), { out: 'The audit log has no such entries.\n' });

  const verified = await larder(`audit verify --data ${data}`);
  t.match(verified.out, /^The audit log is whole: \d+ entries/);
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
  t.match(JSON.parse(lines[0]!), { seq: 1, actor: /^cli:/, action: 'init', hash: /^[0-9a-f]{64}$/ });
  t.match(await larder(`audit export --data ${data} ${file}`), { code: 1 }, 'a file that is there is not overwritten');
});

t.test('a log that was changed is not good, and the exit code says so', async (t) => {
  const data = await world(t);
  const db = new SQLite(join(data, 'larder.db'));
  db.exec(`DROP TRIGGER audit_is_append_only_update; UPDATE audit SET actor = 'bob' WHERE seq = 1`);
  db.close();
  t.match(await larder(`audit verify --data ${data} --json`), {
    code: 1,
    out: /"good":false.*row 1 is not as it was written/,
  });
});
