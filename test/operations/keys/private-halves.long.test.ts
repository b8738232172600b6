// Wherever a store writes, the private half of no signing key can be read: its bytes are searched for, in every form.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { KeyObject } from 'node:crypto';
import { join } from 'node:path';

import t from 'tap';

import { open } from '#assertions/keys/sealed-keys.ts';
import { readMasterKey } from '#data/secrets.ts';
import { larder } from '#test/cli/world.ts';
import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';
import { bytesOf, changeIn, rowsIn } from '#test/fixtures/records/behind.ts';
import { addBrand } from '#test/fixtures/brands.ts';

/** The private parts of an RSA key and the master key over it, as they might turn up: raw, hexadecimal and base64. */
function formsOf(secrets: readonly Buffer[]): Buffer[] {
  // Three beginnings, because base64 depends on the bytes before them.
  const pieces = secrets.flatMap((secret) => [0, 1, 2].map((shift) => secret.subarray(shift, shift + 24)));
  return pieces.flatMap((piece) => [
    piece,
    ...[piece.toString('hex'), piece.toString('hex').toUpperCase()].map((text) => Buffer.from(text)),
    ...[piece.toString('base64'), piece.toString('base64url')].map((text) => Buffer.from(text)),
    // As JSON writes a Buffer.
    Buffer.from(piece.subarray(0, 12).join(',')),
  ]);
}

function privateParts(key: KeyObject): Buffer[] {
  const { d, p, q, dp, dq, qi } = key.export({ format: 'jwk' });
  return [d, p, q, dp, dq, qi].map((part) => Buffer.from(part ?? '', 'base64url'));
}

/** A place, and a second time without line ends, so that base64 in lines is found too. */
const searched = (content: Buffer): Buffer[] => [
  content,
  Buffer.from(content.toString('latin1').replace(/\r?\n|\\n/g, ''), 'latin1'),
];

const holds = (contents: readonly Buffer[], forms: readonly Buffer[]): boolean =>
  contents.some((content) => forms.some((form) => content.includes(form)));

/** The files of a store with two keys, in normal use and with every failure of its keys. */
async function everythingWritten(
  store: TestAppliance,
  ada: Client,
  keys: string,
): Promise<{ places: Map<string, Buffer[]>; masterKey: KeyObject; ids: string[] }> {
  const outputs: string[] = [];
  const ask = async (path: string, body: unknown): Promise<void> => {
    outputs.push(JSON.stringify(await ada.post(path, body)));
  };
  const command = async (line: string): Promise<void> => {
    const { out, err } = await larder(line, { env: { LARDER_DATA: store.directory, LARDER_DEBUG: '1' } });
    outputs.push(out, err);
  };
  store.appliance.log.level = 'trace';
  await ask(keys, { name: 'one' });
  const brand = keys.split('/')[3] ?? '';
  await command(`key create ${brand} two`);
  const masterKey = readMasterKey({ directory: store.directory, credentials: undefined, masterKeyFile: undefined });
  if (masterKey === undefined) throw new Error('cannot look for keys: the store has no master key');
  const ids = (await store.beside.records.signingKeys.list(brand)).map(({ sha3_384 }) => sha3_384);
  const [first = '', two = ''] = ids;
  const backups = ['before.tar', 'after.tar'].map((name) => join(store.directory, name));
  const passphrase = join(store.directory, 'passphrase');
  writeFileSync(passphrase, 'correct horse battery staple\n');
  await command(`backup ${backups[0] ?? ''}`);
  await command(`backup ${store.directory}/with-keys.tar --include-keys --passphrase-file ${passphrase}`);

  const sealedOf = (id: string): string =>
    rowsIn<{ sealed: string }>(store.directory, 'SELECT sealed FROM signing_keys WHERE sha3_384 = ?', id)[0]!.sealed;
  const reseal = (sealed: string, id: string): void =>
    changeIn(store.directory, 'UPDATE signing_keys SET sealed = ? WHERE sha3_384 = ?', sealed, id);
  const good = sealedOf(first);
  const use = async (): Promise<void> => {
    await ask(`${keys}/${first}/account-key-request`, {});
    for (const line of [`key request ${first}`, `key show ${first}`, 'key list', 'key create nobody x', 'doctor'])
      await command(line);
  };
  await use();
  for (const wrong of [
    sealedOf(two),
    'nonsense',
    good.slice(0, -20),
    good.replace(/data-key=.{8}/, 'data-key=AAAAAAAA'),
  ]) {
    reseal(wrong, first);
    await use();
  }
  reseal(good, first);
  await command(`audit export ${store.directory}/audit.jsonl`);
  await command(`backup ${backups[1] ?? ''}`);

  const places = new Map<string, Buffer[]>([
    ['the log', searched(Buffer.from(store.log.join('')))],
    ['the answers', searched(Buffer.from(outputs.join('\n')))],
    ['the records', searched(bytesOf(store.directory))],
  ]);
  for (const name of readdirSync(store.directory, { recursive: true, encoding: 'utf8' })) {
    const file = join(store.directory, name);
    // The ballast is room that is set aside: zeros, many of them.
    const isKnown = ['master.key', 'larder.db', 'larder.db-wal'].includes(name) || name.includes('ballast');
    if (!isKnown && statSync(file).isFile()) places.set(name, searched(readFileSync(file)));
  }
  return { places, masterKey, ids };
}

t.test('private halves are in no log, answer, error, backup or database', async (t) => {
  const store = await startStore(t);
  const keys = `/v1/brand/${await addBrand(store, 'ada')}/signing_key`;
  const { places, masterKey, ids } = await everythingWritten(store, await store.as('ada'), keys);
  for (const name of ['the records', 'before.tar', 'after.tar', 'with-keys.tar', 'audit.jsonl'])
    t.ok(places.has(name), name);
  t.equal(ids.length, 2);
  t.match(places.get('the answers')?.[0]?.toString(), /"status":500/, 'things went wrong');
  t.match(places.get('the log')?.[0]?.toString(), /cannot open the signing key/, 'and the log says what');

  const sealed: string[] = [];
  for (const id of ids) {
    const key = await store.beside.records.signingKeys.find(id);
    if (key === undefined) throw new Error(`cannot find ${id}`);
    sealed.push(key.sealed);
    const opened = open(masterKey, { brandAccountId: key.brandAccountId, keyId: id }, key.sealed);
    const der = opened.export({ format: 'der', type: 'pkcs8' });
    const forms = formsOf(privateParts(opened));
    const pem = Buffer.from(opened.export({ format: 'pem', type: 'pkcs8' }));
    const jwk = Buffer.from(JSON.stringify(opened.export({ format: 'jwk' })));
    for (const encoding of [der, pem, jwk]) t.ok(holds(searched(encoding), forms), 'the key itself would be found');
    for (const [place, contents] of places) t.notOk(holds(contents, forms), `not in ${place}`);
  }
  const master = formsOf([masterKey.export()]);
  for (const [place, contents] of places) t.notOk(holds(contents, master), `nor is the master key in ${place}`);
  for (const name of ['before.tar', 'after.tar']) {
    for (const text of sealed) t.ok(places.get(name)?.[0]?.includes(text.slice(-200)), `sealed they are in ${name}`);
  }
  for (const [place, [content]] of places) t.notOk(content?.includes('PRIVATE KEY'), place);
});
