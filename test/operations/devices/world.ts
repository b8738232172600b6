// A store that serves devices, and pumps of acme with models and serials as snapd sends them.
import { toAssertionRecord } from '#acts/assertions/assertions.ts';
import { joined, mediaType, stream, type Assertion, type Headers } from '#assertions/format/assertion.ts';
import { signAssertion } from '#assertions/keys/signer.ts';
import {
  account,
  accountKey,
  keys,
  made,
  now,
  signer,
  storeKey,
  timestamp,
  trusted,
  type KeyName,
} from '#test/assertions/world.ts';
import { startStore, type Client, type Reply, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addOnlineBrand, addSigningKey, trusting } from '#test/fixtures/brands.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';

type Test = Parameters<typeof startStore>[0];

/** The assertions of the brand acme, ready to import. */
export const acmesChain = async (): Promise<Assertion[]> => [
  storeKey,
  await account('acme'),
  await accountKey('ada', 'acme', 'default'),
];

/** Keeps assertions as if the brand's administrator had brought them. */
export async function bring(store: TestAppliance, all: readonly Assertion[]): Promise<void> {
  const acme = await store.as('acme');
  const reply = await acme.post('/v1/brand/acme/assertions', stream(all), { 'content-type': mediaType });
  if (reply.status !== 201) throw new Error(JSON.stringify(reply.body));
}

/** A store with the brand acme; a root vouches for its key. */
export async function startForDevices(
  t: Test,
  configure: (text: string) => string = (text) => text,
): Promise<{ store: TestAppliance; anyone: Client }> {
  const trusts = trusting(t, trusted);
  const store = await startStore(t, (text) => configure(servingSnaps(trusts(text))), now);
  await makeAcme(store);
  return { store, anyone: store.anyone };
}

export async function makeAcme(store: TestAppliance): Promise<void> {
  await addOnlineBrand(store, 'acme');
  await addSigningKey(store, 'acme', 'rsa4096-a', 'default');
  await bring(store, await acmesChain());
}

/** Keeps assertions as if the administrator of the store had taken them in. */
export async function keep(
  store: { beside: Pick<TestAppliance['beside'], 'records'>; clock: { readonly now: Date } },
  ...all: Assertion[]
): Promise<void> {
  const at = store.clock.now.toISOString();
  await store.beside.records.change(
    { at, actor: 'test', action: 'import_assertions', object: 'assertions' },
    async (tx) => {
      for (const assertion of all)
        await tx.assertions.keep(toAssertionRecord(assertion, 'imported', { at, actor: 'test' }));
    },
  );
}

export const pump = { 'brand-id': 'acme', model: 'pump' };

export const modelOf = (more: Headers = {}, keyName: KeyName = 'ada'): Promise<Assertion> =>
  made(keyName, 'acme', 'model', {
    series: '16',
    ...pump,
    architecture: 'amd64',
    base: 'core18',
    gadget: 'pc',
    kernel: 'pc-kernel',
    timestamp,
    ...more,
  });

export const serialOf = (more: Headers = {}, keyName: KeyName = 'ada', authority = 'acme'): Promise<Assertion> =>
  made(keyName, authority, 'serial', {
    ...pump,
    serial: '0001',
    'device-key': keys.device.encoded,
    'device-key-sha3-384': keys.device.id,
    timestamp,
    ...more,
  });

export interface Texts {
  'device-session-request': string;
  'serial-assertion': string;
  'model-assertion': string;
}

/** A device that has its model and its serial, and asks as snapd does. */
export async function pumpDevice(
  anyone: Client,
  { model, serial, key = 'device' }: { model?: Assertion; serial?: Assertion; key?: KeyName } = {},
) {
  const [modelText, serialText] = [joined(model ?? (await modelOf())), joined(serial ?? (await serialOf()))];
  const nonce = async (): Promise<string> => (await anyone.post('/api/v1/snaps/auth/nonces', undefined)).body.nonce;
  /** Its request, with other headers if they are given. */
  const texts = async (more: Headers = {}): Promise<Texts> => {
    const fresh = more['nonce'] ?? (await nonce());
    const headers = { ...pump, serial: '0001', timestamp: '2016-01-01T00:00:00Z', ...more, nonce: fresh };
    return {
      'device-session-request': await signAssertion(signer, keys[key].id, {
        type: 'device-session-request',
        headers,
        signedAt: now,
      }),
      'serial-assertion': serialText,
      'model-assertion': modelText,
    };
  };
  const send = (body: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
    anyone.post('/api/v1/snaps/auth/sessions', body, { 'content-type': 'application/json', ...headers });
  return {
    nonce,
    texts,
    send,
    /** The header that identifies it. */
    async session(): Promise<string> {
      const reply = await send(await texts());
      if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
      return `Macaroon root="${reply.body.macaroon}"`;
    },
  };
}

/** The brands of the test devices: acme, and a foreign one. */
const makers = { acme: 'ada', vault: 'second' } as const;

/** The header that identifies a device of one of the brands. The chain of vault must be imported first. */
export async function sessionOf(
  anyone: Client,
  { brand, model, serial }: { brand: keyof typeof makers; model: string; serial: string },
): Promise<{ 'snap-device-authorization': string }> {
  const modelHeaders = { 'brand-id': brand, model };
  const keyName = makers[brand];
  const more = {
    series: '16',
    ...modelHeaders,
    architecture: 'amd64',
    base: 'core18',
    gadget: 'pc',
    kernel: 'pc-kernel',
  };
  const device = await pumpDevice(anyone, {
    model: await made(keyName, brand, 'model', { ...more, timestamp }),
    serial: await serialOf({ ...modelHeaders, serial }, keyName, brand),
  });
  const { status, body } = await device.send(await device.texts({ ...modelHeaders, serial }));
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { 'snap-device-authorization': `Macaroon root="${body.macaroon}"` };
}

/** The chain of vault's devices. */
export const vaultsChain = async (): Promise<Assertion[]> => [
  await account('vault'),
  await accountKey('second', 'vault', 'default'),
];
