// The requests to a measured store: an object of every kind, made by its owner.
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { signAssertion } from '#assertions/keys/signer.ts';
import { writeTime } from '#assertions/format/times.ts';
import { vectorKey, vectorSigner } from '#test/assertions/vectors.ts';
import { startStore, snapFixture, type Client, type Reply, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addBrand, addSigningKey } from '#test/fixtures/brands.ts';
import { declare, digestOf, logIn, pushImage, uploadLogin, type Login } from '#test/fixtures/packages/images.ts';
import { pushCharm, pushResource } from '#test/fixtures/clients/juju.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';
import type { WritableStore } from '#test/fixtures/records/writable.ts';
import { addMeasured } from './store.ts';

/** The paths of objects, and the accounts that may request them. */
export interface World {
  tokens: Record<'ada' | 'bob' | 'root', string>;
  ids: Record<'ada' | 'bob' | 'snap' | 'charm' | 'upload' | 'library' | 'pages', string>;
  icon: string;
  /** Credentials of the repository of the charm, and the digests of its content. */
  login: Login;
  image: { manifest: string; blob: string };
}

/** Makes a store of these things and stops it; its directory, to be copied. */
export async function makeMeasured(): Promise<{ directory: string; world: World }> {
  const leaving: (() => unknown)[] = [];
  const store = await startStore({ teardown: (work) => leaving.push(work) }, configured, new Date());
  const world = await furnish(store);
  await store.appliance.stop();
  const directory = mkdtempSync(join(tmpdir(), 'larder-bench-'));
  cpSync(store.directory, directory, { recursive: true });
  for (const leave of leaving) await leave();
  return { directory, world };
}

const configured = (text: string): string =>
  ['build_records', 'metrics', 'documents', 'snap', 'charm'].reduce(
    (config, name) => config.replace(new RegExp(`^(?:# ?)?${name} = .*$`, 'm'), `${name} = true`),
    text,
  );

async function furnish(store: TestAppliance): Promise<World> {
  const [ada, bob, root] = [await store.as('ada'), await store.as('bob'), await store.as('root')];
  await addMeasured(store.beside, store.ids.bob);
  const { icon, ...snap } = await furnishSnap(store, ada);
  const { login, image, ...charm } = await furnishCharm(store, ada);
  const pages = await furnishPages(store, ada);
  await furnishBrand(store, ada);
  await furnishBuilds(ada);
  await furnishProposal(store);
  const fleet = { name: 'pumps', kind: 'serial', devices: ['acme/pump/0001', 'acme/pump/0002'] };
  must(await root.post('/internal/v1/fleets', fleet), 'create a fleet');
  const pin = { channel: 'stable', mode: 'pin', revision: 1 };
  must(await root.post('/internal/v1/packages/snap/tiny-app/fleets/pumps/channel', pin), 'pin');
  must(await ada.post('/v1/snap', { name: 'offered' }), 'register');
  must(await ada.post('/internal/v1/packages/snap/offered/offer', { email: 'bob@example.com' }), 'offer');
  return {
    tokens: { ada: ada.token, bob: bob.token, root: root.token },
    ids: { ada: store.ids.ada, bob: store.ids.bob, ...snap, ...charm, pages },
    icon,
    login,
    image,
  };
}

async function furnishSnap(store: TestAppliance, ada: Client): Promise<{ snap: string; upload: string; icon: string }> {
  const at = '/v1/snap/tiny-app';
  const { id } = must(await ada.post('/v1/snap', { name: 'tiny-app' }), 'register').body as { id: string };
  const [review] = must(await ada.push('snap', 'tiny-app', await snapFixture('app-xz')), 'push').body.revisions;
  must(await ada.post(`${at}/releases`, [{ channel: 'edge', revision: 1 }]), 'release');
  must(await ada.post(`${at}/releases`, [{ channel: 'beta', revision: 1, rollout: { steps: [10] } }]), 'roll out');
  await addCollaborator(store, id, 'bob');
  await store.join('carol');
  must(await ada.post(`${at}/collaborators/invites`, { invites: [{ email: 'carol@example.com' }] }), 'invite');
  const guardrails = '/internal/v1/packages/snap/tiny-app/guardrails';
  must(await (await store.as('root')).post(guardrails, { pattern: '^[0-9]+$' }), 'guard');
  const grants = '/internal/v1/packages/snap/tiny-app/device-grants';
  must(await (await store.as('root')).post(grants, { 'brand-id': 'acme' }), 'grant');

  const drawing = '<svg xmlns="http://www.w3.org/2000/svg"></svg>';
  await ada.upload(drawing);
  const icon = `${createHash('sha3-384').update(drawing).digest('hex')}.svg`;
  const text = await validationSet(store, id);
  await fill(store, async (tx) => {
    const subject = await tx.packages.byId(id);
    if (subject !== undefined) await tx.packages.describe({ ...subject, icon });
    const set = `validation-set/16/${store.ids.ada}/base-set/1`;
    const about = {
      type: 'validation-set',
      accountId: store.ids.ada,
      snapName: null,
      setName: 'base-set',
      sequence: 1,
      snapId: null,
      snapRevision: null,
    };
    const fields = { origin: 'imported' as const, revision: 0, keptAt: now(), keptBy: 'ada', text };
    await tx.assertions.keep({ name: set, ...about, ...fields });
  });
  return { snap: id, upload: review['upload-id'] as string, icon };
}

/** What `snap sign` writes. */
const validationSet = ({ ids: { ada } }: TestAppliance, snap: string): Promise<string> =>
  signAssertion(vectorSigner(), vectorKey('rsa2048-a').id, {
    type: 'validation-set',
    headers: {
      'authority-id': ada,
      series: '16',
      'account-id': ada,
      name: 'base-set',
      sequence: '1',
      snaps: [{ name: 'tiny-app', id: snap, presence: 'required' }],
      timestamp: writeTime(new Date()),
    },
    signedAt: new Date(),
  });

/** A charm with a resource, an image for it, and a library. */
async function furnishCharm(
  store: TestAppliance,
  ada: Client,
): Promise<Omit<World, 'tokens' | 'ids' | 'icon'> & { charm: string; library: string }> {
  const charm = await declare(store, 'ada', 'juggler');
  const login = await uploadLogin(ada, 'juggler');
  const client = await logIn(store, login);
  const layer = 'a layer';
  const manifest = await pushImage(client, 'latest', layer);
  const libraries = '/v1/charm/libraries/juggler';
  const library = must(await ada.post(libraries, { 'library-name': 'greeting' }), 'library').body[
    'library-id'
  ] as string;
  const version = { api: 0, patch: 1, content: 'LIBAPI = 0', hash: 'a'.repeat(64) };
  must(await ada.post(`${libraries}/${library}`, version), 'library');
  return { charm, library, login, image: { manifest, blob: digestOf(layer) } };
}

/** A charm as juju deploys it, with a file beside it. */
async function furnishPages(store: TestAppliance, ada: Client): Promise<string> {
  const { id } = must(await ada.post('/v1/charm', { name: 'pages' }), 'register').body as { id: string };
  await pushCharm(ada, 'pages', { metadata: 'resources:\n  site: {type: file, filename: site.tar}\n' });
  await pushResource(store, ada, '/v1/charm/pages/resources/site', 'pages');
  const resources = [{ name: 'site', revision: 1 }];
  must(await ada.post('/v1/charm/pages/releases', [{ channel: 'stable', revision: 1, resources }]), 'release');
  return id;
}

/** Brand, model, key, policy, allowed remodel and a serial. */
async function furnishBrand(store: TestAppliance, ada: Client): Promise<void> {
  const brand = await addBrand(store, 'ada');
  const key = await addSigningKey(store, brand, 'rsa4096-a', 'default');
  const at = `/v1/brand/${brand}`;
  for (const name of ['pump', 'mill']) must(await ada.post(`${at}/model`, { name, series: '16' }), 'model');
  must(await ada.post(`${at}/model/pump/serial_policy`, { 'signing-key-sha3-384': key }), 'policy');
  must(
    await ada.post(`${at}/remodel-allowlist`, {
      allowlist: [{ 'from-model': 'pump', 'from-serial': null, 'to-model': 'mill', description: null }],
    }),
    'remodel',
  );
  await fill(store, (tx) =>
    tx.serialLog.claim({
      brandAccountId: brand,
      modelName: 'pump',
      serial: '0001',
      deviceKeySha3384: 'A'.repeat(64),
      signingKeySha3384: key,
      serialAssertion: `serial/${brand}/pump/0001`,
      serialRequest: 'type: serial-request',
      createdAt: now(),
    }),
  );
}

async function furnishBuilds(ada: Client): Promise<void> {
  const { id } = must(await ada.post('/v1/source', { name: 'well', type: 'rockcraft' }), 'register').body as {
    id: string;
  };
  const platform = { name: 'ubuntu', channel: '24.04', architectures: ['amd64'] };
  const channel = { name: 'latest/edge', track: 'latest', risk: 'edge', branch: null };
  const about = { name: 'well', id, type: 'rockcraft', 'commit-hash': 'c0ffee', 'craft-channel': channel };
  const set = {
    package: { ...about, 'craft-revision': 7, 'craft-version': '1.2' },
    platforms: [platform],
    triggers: [{ type: 'commit' }],
    builds: [{ status: 'waiting', platform }],
  };
  must(await ada.post('/internal/v1/craft/buildsets', set), 'build');
}

/** Objects that wait for approvals, as if the store required them. */
const furnishProposal = (store: TestAppliance): Promise<unknown> =>
  fill(store, (tx) =>
    tx.proposals.add({
      act: 'push_releases',
      object: 'snap/tiny-app',
      actor: store.ids.ada,
      asked: '0'.repeat(64),
      digest: '1'.repeat(64),
      lines: [{ kind: 'releases', on: 'snap/tiny-app:latest/edge', part: null, from: null, to: '1' }],
      proposedAt: now(),
      endsAt: '2100-01-01T00:00:00.000Z',
    }),
  );

const now = (): string => new Date().toISOString();

const fill = (store: TestAppliance, work: Parameters<WritableStore['records']['change']>[1]): Promise<unknown> =>
  store.beside.records.change({ at: now(), actor: 'bench', action: 'fill', object: 'store' }, work);

function must(reply: Reply, step: string): Reply {
  if (reply.status < 300) return reply;
  throw new Error(`cannot furnish the store (${step}): ${reply.status} ${JSON.stringify(reply.body)}`);
}
