// larder admin-macaroon
import t from 'tap';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { changeConfig, readConfig } from '#configuration/config.ts';
import { newStore, serve } from '#test/cli/process.ts';

const digest = (file: string) => createHash('sha3-384').update(readFileSync(file, 'utf8').trim()).digest('hex');
const auth = (data: string) => readConfig(join(data, 'larder.toml')).auth;

t.test('a new credential takes the place of the old one, in its file and in the configuration', async (t) => {
  const { data, larder, json } = await newStore(t);
  const file = join(data, 'admin.macaroon');
  const old = digest(file);
  const comments = readFileSync(join(data, 'larder.toml'), 'utf8').match(/^#.*/gm);
  t.strictSame(await json('admin-macaroon'), {
    'account-id': 'larder-admin',
    'admin-macaroon-file': file,
    config: join(data, 'larder.toml'),
    'credentials-in-force': 1,
    'reload-needed': false,
  });
  t.not(digest(file), old);
  t.strictSame(auth(data), { store_admin_id: 'larder-admin', store_admin_macaroon_sha3_384: digest(file) });
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.strictSame(readFileSync(join(data, 'larder.toml'), 'utf8').match(/^#.*/gm), comments, 'the comments stay');
  const { code, out } = await larder('admin-macaroon');
  t.equal(code, 0);
  t.match(out, /^The new credential of larder-admin is in .*admin\.macaroon; every earlier one is void\.\n/);
  t.match(out, /\nThe store accepts it from the next request on\.\n$/);
  t.notMatch(out, readFileSync(file, 'utf8').trim(), 'the credential itself is not shown');
});

t.test('one is added beside the others', async (t) => {
  const { data, json, larder } = await newStore(t);
  const [first, second] = [join(data, 'admin.macaroon'), join(data, '../second.macaroon')];
  t.match(await json(`admin-macaroon --add --file ${second}`), {
    'admin-macaroon-file': second,
    'credentials-in-force': 2,
  });
  t.equal(statSync(second).mode & 0o777, 0o600);
  t.strictSame(auth(data).store_admin_macaroon_sha3_384, [digest(first), digest(second)]);
  t.match(await larder(`admin-macaroon --add --file ${second}`), { code: 1, err: /second\.macaroon is there already/ });
  t.match(await json('admin-macaroon'), { 'credentials-in-force': 1 });
  t.equal(auth(data).store_admin_macaroon_sha3_384, digest(first));
});

t.test('it represents a store administrator', async (t) => {
  const { data, json, larder } = await newStore(t);
  await larder('account create --email ada@example.org --username ada --display-name Ada --id ada-id');
  t.match(await larder('admin-macaroon --account ada-id'), {
    code: 1,
    err: "larder: ada-id is not a store administrator; make it one with 'larder account role ada-id store-admin'\n",
  });
  await larder('account role ada-id store-admin');
  t.match(await larder('admin-macaroon --account ada-id --add'), {
    code: 1,
    err: "with --add the old credentials, which are those of larder-admin, would be ada-id's too",
  });
  t.match(await json('admin-macaroon --account ada-id'), { 'account-id': 'ada-id' });
  t.equal(auth(data).store_admin_id, 'ada-id');
  t.match(await json('admin-macaroon --account bob'), { code: 'account-not-found' });
});

t.test('when the configuration cannot be changed the old credential stays good', async (t) => {
  const { data, larder } = await newStore(t);
  const [file, configuration] = [join(data, 'admin.macaroon'), join(data, 'larder.toml')];
  changeConfig(configuration, { 'auth.store_admin_macaroon_sha3_384': Array.from({ length: 64 }, () => digest(file)) });
  const before = readdirSync(data).map((name) => [name, readFileSync(join(data, name), 'hex')]);
  t.match(await larder('admin-macaroon --add'), {
    code: 1,
    err: /larder\.toml:\d+: auth\.store_admin_macaroon_sha3_384/,
  });
  for (const [name, content] of before) {
    t.equal(readFileSync(join(data, name!), 'hex'), content, `${name} is as it was`);
  }
  t.strictSame(readdirSync(data).sort(), before.map(([name]) => name).sort());
});

t.test('if credentials are not exchanged, the command says so', async (t) => {
  const { data, larder } = await newStore(t);
  const configuration = join(data, 'larder.toml');
  writeFileSync(
    configuration,
    readFileSync(configuration, 'utf8').replace('offline_mode = true', 'offline_mode = false'),
  );
  t.match(await larder('admin-macaroon'), { code: 0, out: /\nstore\.offline_mode is off: nothing is exchanged\.\n$/ });
});

t.test('a credential that was replaced is refused at the next request, without a reload', async (t) => {
  const { data, larder } = await newStore(t);
  const { url, err } = await serve(t, data);
  const file = join(data, 'admin.macaroon');
  const exchange = async (macaroon: string): Promise<number> => {
    const { status } = await fetch(`${url}/v1/tokens/offline/exchange`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ macaroon }),
    });
    return status;
  };
  const old = readFileSync(file, 'utf8');
  t.equal(await exchange(old), 200);
  // As by an editor, without a reload of the server.
  changeConfig(join(data, 'larder.toml'), { 'auth.store_admin_macaroon_sha3_384': 'a'.repeat(96) });
  t.equal(await exchange(old), 401);
  t.notMatch(err(), /configuration reloaded/);
  changeConfig(join(data, 'larder.toml'), { 'auth.store_admin_macaroon_sha3_384': digest(file) });
  t.equal(await exchange(old), 200);

  t.match(await larder('admin-macaroon'), { code: 0 });
  t.equal(await exchange(old), 401, 'the command made it void');
  t.equal(await exchange(readFileSync(file, 'utf8')), 200);
  writeFileSync(join(data, 'larder.toml'), 'nonsense');
  t.equal(await exchange(old), 401, 'a file that is being edited brings nothing back');
});
