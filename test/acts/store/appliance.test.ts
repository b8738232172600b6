// Changes to the store as a whole, each by its command, and their entries in the audit log.
import { hash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { larder } from '#test/cli/world.ts';

interface Entry {
  actor: string;
  action: string;
  object: string;
  outcome: string;
  details: Record<string, unknown>;
}

/** The newest entry of a store's audit log under this word. */
async function entered(data: string, action: string): Promise<Entry | undefined> {
  const { out } = await larder(`audit list --data ${data} --action '${action}' --json`);
  return (JSON.parse(out) as { entries: Entry[] }).entries.at(-1);
}

async function done(line: string): Promise<string> {
  const { code, out, err } = await larder(line);
  if (code !== 0) throw new Error(`${line}: ${err}`);
  return out;
}

const person = { actor: /^cli:/, outcome: 'done' };

t.test('the audit log names each change to the store as a whole by its act', async (t) => {
  const folder = t.testdir({ passphrase: 'correct horse battery\n' });
  const data = join(folder, 'data');
  await done(`init --data ${data} --admin-email ann@site.example`);
  t.match(await entered(data, 'create_store'), { ...person, object: 'account/larder-admin', details: {} });
  t.match(JSON.parse(await done(`account list --data ${data} --json`)), {
    accounts: [{ id: 'larder-admin', email: 'ann@site.example' }],
  });

  await done(`log-level debug --data ${data}`);
  t.strictSame((await entered(data, 'set_log_level'))?.details, { level: 'debug' });
  t.match(await entered(data, 'set_log_level'), { ...person, object: 'log' });
  t.match(readFileSync(join(data, 'larder.toml'), 'utf8'), /^level = "debug"/m);

  await done(`config set devices.snap true --data ${data}`);
  t.match(await entered(data, 'change_setting'), { ...person, object: 'configuration' });
  t.strictSame((await entered(data, 'change_setting'))?.details, { key: 'devices.snap', before: null, after: true });

  const { id } = JSON.parse(await done(`backup ${join(folder, 'monday.tar')} --data ${data} --json`)) as { id: string };
  t.match(await entered(data, 'make_backup'), { ...person, object: `backup/${id}` });
  const { sha256, bytes, ...made } = (await entered(data, 'make_backup'))?.details as Record<string, unknown>;
  t.strictSame(made, { id, since: null, blobs: 0, keys: false, lacking: 0 });
  const file = readFileSync(join(folder, 'monday.tar'));
  t.strictSame({ sha256, bytes }, { sha256: hash('sha256', file), bytes: file.length });

  const safe = join(folder, 'safe');
  mkdirSync(safe);
  for (const key of ['site.key', 'master.key', 'audit.seal']) cpSync(join(data, key), join(safe, key));
  const again = join(folder, 'again');
  await done(`restore ${join(folder, 'monday.tar')} --keys ${safe} --data ${again}`);
  t.match(await entered(again, 'restore_store'), { ...person, object: 'store', details: { forgotten: 0 } });
  t.equal(await entered(again, 'make_backup'), undefined, 'a backup does not know of itself');

  await done(`key seal --data ${data} --passphrase-file ${join(folder, 'passphrase')} --yes`);
  t.match(await entered(data, 'seal_master_key'), { ...person, object: 'master key', details: {} });

  const seal = JSON.parse(readFileSync(join(data, 'audit.seal'), 'utf8')) as Record<string, unknown>;
  rmSync(join(data, 'audit.seal'));
  writeFileSync(join(data, 'audit.seal'), JSON.stringify({ ...seal, seq: Number(seal['seq']) + 1000 }));
  await done(`audit accept --data ${data} --yes`);
  const accepted = await entered(data, 'accept_audit_log');
  t.match(accepted, { ...person, object: 'audit', details: { problems: Number, first: [String] } });
});
