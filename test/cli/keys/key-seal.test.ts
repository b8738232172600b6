import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { passphraseIn, unwrapWithPassphrase, wrapWithPassphrase } from '#data/passphrase.ts';
import { newBrandStore } from '#test/cli/brands/brand-store.ts';
import { serve } from '#test/cli/process.ts';
import { until } from '#test/fixtures/until.ts';

t.test('a key under a passphrase is restored with that passphrase alone, from the same text', (t) => {
  const key = Buffer.alloc(32, 7);
  const text = wrapWithPassphrase(key, 'correct horse battery');
  t.same(unwrapWithPassphrase(text, 'correct horse battery'), key);
  t.not(wrapWithPassphrase(key, 'correct horse battery'), text, 'never the same text twice');
  t.throws(() => unwrapWithPassphrase(text, 'correct horse batterz'), /passphrase is another one/);
  t.throws(
    () =>
      unwrapWithPassphrase(
        text.replace(/key=./, (part) => (part === 'key=A' ? 'key=B' : 'key=A')),
        'correct horse battery',
      ),
    /changed/,
  );
  for (const other of ['', 'x', text.slice(0, -3), text.replace('131072', '2')]) {
    t.throws(() => unwrapWithPassphrase(other, 'correct horse battery'), /not a master key under a passphrase/);
  }
  t.same(['a b\n', 'a b\r\n', 'a b ', 'a\n\n'].map(passphraseIn), ['a b', 'a b', 'a b ', 'a\n']);
  t.end();
});

t.test('a store with its key under a passphrase is sealed until it gets the passphrase', async (t) => {
  const store = await newBrandStore(t);
  const { data, larder, file } = store;
  const passphrase = file('passphrase', 'correct horse battery\n');
  t.match(await larder(`key seal --passphrase-file ${file('short', 'short\n')} --yes`), {
    code: 1,
    err: /at least 12/,
  });
  t.ok(existsSync(join(data, 'master.key')));
  t.match(await larder(`key seal --passphrase-file ${passphrase} --yes`), { code: 0 });
  t.notOk(existsSync(join(data, 'master.key')));
  t.match(readFileSync(join(data, 'master.key.sealed'), 'utf8'), /^larder-master-key\/1 /);
  t.match(await larder('key request default'), { code: 1, err: /sealed/ });
  const { entries } = (await store.json('audit list')) as { entries: { action: string; object: string }[] };
  t.match(
    entries.find(({ action }) => action === 'seal_master_key'),
    { object: 'master key', outcome: 'done', details: {} },
  );
  t.match(await larder(`key seal --passphrase-file ${passphrase} --yes`), { code: 1, err: /no master key/ });

  const passphraseCopy = join(store.files, 'given');
  changeConfig(join(data, 'larder.toml'), { 'keys.passphrase_file': passphraseCopy });
  const { url, child, ended, err } = await serve(t, data);
  const { macaroon } = await store.json('token issue --account my-brand');
  const keys = `${url}/v1/brand/my-brand/signing_key`;
  const headers = { authorization: `Macaroon ${macaroon as string}` };
  const [key] = (await (await fetch(keys, { headers })).json()) as { 'sha3-384': string }[];
  const request = () => fetch(`${keys}/${key?.['sha3-384'] ?? ''}/account-key-request`, { method: 'POST', headers });
  t.equal((await request()).status, 503);
  writeFileSync(passphraseCopy, readFileSync(passphrase), { mode: 0o600 });
  child.kill('SIGHUP');
  // The passphrase unseals it while it serves.
  await until(async () => (await request()).status === 200);
  t.notMatch(err(), /correct horse/);
  t.match(await larder('key request default'), { code: 0 });
  t.match(await larder('doctor'), { out: /ok +Signing key: the store can sign/ });
  child.kill('SIGTERM');
  await ended;
  rmSync(passphraseCopy);
});
