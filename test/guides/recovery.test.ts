// The guides about backups and lost hosts, walked line by line.
import t from 'tap';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';

import { after, minutes, timestamp } from '#domain/clock.ts';
import { newStore, start } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { examplesIn, missingOutput } from '#test/fixtures/guides.ts';
import { saved } from '#test/backup/saved.ts';

t.setTimeout(600_000);

t.test('the lines of the guide about backups and a lost disk work as described', async (t) => {
  const { store, folder, keys } = await saved(t);
  const walk = async (examples: readonly string[][], data: string): Promise<string> => {
    let printed = '';
    // The commands of systemd are typed in packaging/deb.long.test.ts.
    for (const line of examples.flat().filter((line) => line.startsWith('larder '))) {
      const command = line.slice('larder '.length).replaceAll('/media/usb', folder).replaceAll('/media/safe', keys);
      const { code, out, err } = await larder(command, { env: { LARDER_DATA: data } });
      t.equal(code, 0, `${line}${err}`);
      printed += out;
    }
    return printed;
  };
  const [typed = [], nightly = [], allDay = []] = examplesIn('administrator', 'Back up', 3);
  const backups = join(folder, 'backups');
  mkdirSync(backups);
  const backedUp = await walk([typed, nightly], store.directory);
  await walk([[`larder backup ${backups} --increment`]], store.directory);
  const [[drill = ''] = []] = examplesIn('administrator', 'Drill a restore', 1);
  const drilled = await walk([[drill.replace('/srv/backups', backups)]], store.directory);
  t.same(missingOutput('administrator', 'Drill a restore', drilled), []);
  // A store that is served in this process would be told to reload by a signal.
  await walk([allDay], (await newStore(t)).data);
  t.same(missingOutput('administrator', 'Back up', backedUp), []);
  const data = join(folder, 'data');
  const restored = await walk(examplesIn('recovery', 'The disk died, or the machine is gone', 2), data);
  t.same(missingOutput('recovery', 'The disk died, or the machine is gone', restored), []);
  t.ok(existsSync(join(data, 'admin.macaroon')), 'there is a credential for the administrator');
  await walk(examplesIn('recovery', 'A blob is damaged, or cannot be read', 1), data);
});

t.test('the state at a moment comes back from a folder of increments as described', async (t) => {
  const { folder, keys, run } = await saved(t);
  const [backups, data] = [join(folder, 'backups'), join(folder, 'data')];
  mkdirSync(backups);
  t.match(await run(`backup ${backups} --increment`), { code: 0 });
  const [[line = ''] = []] = examplesIn('recovery', 'Back to a moment', 1);
  // The moment of the guide is before every backup of this test.
  const moment = timestamp(after(new Date(), minutes(1)))
    .slice(0, 16)
    .replace('T', ' ');
  const command = line
    .slice('larder '.length)
    .replace('/media/usb/backups', backups)
    .replace('/media/safe', keys)
    .replace('2026-11-25 14:05', moment);
  const { code, out, err } = await larder(command, { env: { LARDER_DATA: data } });
  t.equal(code, 0, err);
  t.same(missingOutput('recovery', 'Back to a moment', out), []);
});

t.test('at another address old tokens are valid, and clients that trusted the store still do', async (t) => {
  const old = await newStore(t, '--base-url https://store.old.example:8443 --listen 127.0.0.1:0');
  const token = (await old.larder('token issue --account larder-admin --permission account-view-packages --ttl 3600'))
    .out;
  const authority = readFileSync(join(old.data, 'tls/ca.pem'), 'utf8');
  const [file, data] = [`${old.data}.tar`, `${old.data}-new`];
  t.equal((await old.larder(`backup ${file}`)).code, 0);
  t.equal((await larder(`restore ${file} --data ${data} --keys ${old.data}`)).code, 0);
  renameSync(old.data, `${old.data}-gone`);
  const configuration = join(data, 'larder.toml');
  const text = readFileSync(configuration, 'utf8');
  writeFileSync(configuration, text.replace('https://store.old.example:8443', 'https://store.new.example:8443'));
  const running = start(t, ['serve', '--data', data, '--listen', '127.0.0.1:0']);
  const [, url = ''] = await running.says(/"url":"([^"]+)"/);
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const headers = { authorization: `Macaroon ${token.trim()}`, host: 'store.new.example:8443' };
  const options = { ca: authority, servername: 'store.new.example', headers };
  request(`${url}/v1/tokens/whoami`, options, (response) => {
    response.resume();
    resolve(response.statusCode);
  })
    .on('error', reject)
    .end();
  t.equal(await promise, 200);
});
