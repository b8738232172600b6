// Keys that only systemd has, as credentials: how commands on the host get at them.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { newWrappingKey, readMasterKey, readSiteKey } from '#data/secrets.ts';
import { folder, newStore, type NewStore } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';

/** A store with its keys as credentials, and no key files of its own; the folder with the credentials. */
async function store(t: Parameters<typeof newStore>[0]): Promise<NewStore & { credentials: string }> {
  const made = await newStore(t);
  const credentials = folder(t);
  for (const key of ['site', 'master']) {
    renameSync(join(made.data, `${key}.key`), join(credentials, `larder-${key}-key`));
  }
  return { ...made, credentials };
}

t.test('a command without the site key explains how systemd provides the key', async (t) => {
  const { data, larder, credentials } = await store(t);
  t.match(await larder('status'), {
    code: 1,
    err: /neither a credential larder-site-key nor .*site\.key.*start the service, or let systemd run the command: systemd-run --pipe .*LoadCredentialEncrypted=larder-site-key/,
  });
  const env = { LARDER_DATA: data, CREDENTIALS_DIRECTORY: credentials };
  t.match(await withEnvironment('status', env), { code: 0 });
  t.match(await withEnvironment('doctor', env), { out: /ok +Signing key: the signing master key is there/ });
});

t.test('a backup with its keys contains keys that are credentials', async (t) => {
  const { data, credentials } = await store(t);
  const place = folder(t);
  writeFileSync(join(place, 'passphrase'), 'a passphrase of ada\n');
  const env = { LARDER_DATA: data, CREDENTIALS_DIRECTORY: credentials };
  const keys = `--passphrase-file ${place}/passphrase`;
  t.match(await withEnvironment(`backup ${place}/all.tar --include-keys ${keys}`, env), { code: 0 });
  t.match(await withEnvironment(`restore ${place}/all.tar --data ${place}/data ${keys}`, {}), { code: 0 });
  for (const key of ['site', 'master']) {
    t.equal(
      readFileSync(join(place, `data/${key}.key`), 'utf8'),
      readFileSync(join(credentials, `larder-${key}-key`), 'utf8'),
    );
  }
});

t.test('the keys of the serving service come last', (t) => {
  const [directory, credentials, service] = [folder(t), folder(t), folder(t)];
  const places = { directory, credentials, service, masterKeyFile: undefined };
  t.throws(() => readSiteKey(places), /cannot find the site key/);
  t.equal(readMasterKey(places), undefined);
  const inTurn = [join(service, 'larder-site-key'), join(directory, 'site.key'), join(credentials, 'larder-site-key')];
  for (const file of inTurn) {
    const key = newWrappingKey();
    writeFileSync(file, key);
    t.equal(readSiteKey(places).toString('base64'), key.trim(), file);
  }
  const key = newWrappingKey();
  writeFileSync(join(service, 'larder-master-key'), key);
  t.equal(readMasterKey(places)?.export().toString('base64'), key.trim());
  t.end();
});

t.test('a file that is no key is refused, in any place', (t) => {
  const [directory, service] = [folder(t), folder(t)];
  const places = { directory, service, credentials: undefined, masterKeyFile: undefined };
  writeFileSync(join(service, 'larder-site-key'), 'short');
  t.throws(() => readSiteKey(places), /cannot use .*larder-site-key: it does not hold a key/);
  mkdirSync(join(service, 'larder-master-key'));
  t.throws(() => readMasterKey(places), /cannot read the secret in/);
  t.end();
});

const withEnvironment = (line: string, env: Record<string, string>) => larder(line, { env });
