// A store with content on every screen of the console, with names and titles that would be markup without escaping.
import { updateOwnAccount } from '#acts/accounts/details.ts';
import { itself } from '#acts/act.ts';
import { trustSource } from '#acts/sites/sites.ts';
import { subscribe } from '#acts/sites/subscriptions.ts';
import { snapFixture } from '#test/fixtures/appliance.ts';
import { addBrand, addSigningKey } from '#test/fixtures/brands.ts';
import { larder } from '#test/cli/world.ts';
import { seedOf } from '#test/transfers/statement/example.ts';
import type { ConsoleStore } from './world.ts';

const markup = '<b class="markup">"bold" \' javascript:alert(1)</b>';
/** A title has at most 40 characters. */
const shortMarkup = '<b class="markup">"bold"</b>';

/** Adds content for every screen; returns the values for the parameters of the addresses. */
export async function furnishConsole(store: ConsoleStore): Promise<Record<string, string>> {
  const ada = await store.as('ada');
  await store.beside.acts.do(updateOwnAccount, itself, { id: store.ids.ada, displayName: markup });
  await ada.post('/v1/snap', { name: 'tiny-app' });
  await ada.push('snap', 'tiny-app', await snapFixture('app-xz'));
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'stable', revision: 1 }]);
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'beta', revision: 1, rollout: { steps: [1, 50, 100] } }]);
  const metadata = { title: shortMarkup, summary: markup, description: markup };
  const { status } = await ada.patch('/v1/snap/tiny-app', metadata);
  if (status !== 200) throw new Error(`cannot change the metadata: ${String(status)}`);
  await ada.post('/v1/snap', { name: 'careful' });
  await larder(`package manual-review snap/careful on --data ${store.directory}`);
  const { revisions } = (await ada.push('snap', 'careful', await snapFixture('app-xz'))).body as {
    revisions: { 'upload-id': string }[];
  };
  await larder(`fleet create pumps --model acme/pump --data ${store.directory}`);
  await trustDepot(store);
  const brand = await addBrand(store, 'ada');
  const key = await addSigningKey(store, brand, 'rsa4096-a', 'models');
  for (const name of ['pump', 'pump-2']) await ada.post(`/v1/brand/${brand}/model`, { name, series: '16' });
  await ada.post(`/v1/brand/${brand}/model/pump/serial_policy`, { 'signing-key-sha3-384': key });
  const remodel = { 'from-model': 'pump', 'from-serial': null, 'to-model': 'pump-2', description: markup };
  await ada.post(`/v1/brand/${brand}/remodel-allowlist`, { allowlist: [remodel] });
  const at = store.clock.now.toISOString();
  const { id: packageId } = (await store.beside.records.packages.find('snap', 'tiny-app'))!;
  const risk = { severity: 'high', isExploited: true } as const;
  const acceptance = { until: '2027-01-01T00:00:00.000Z', reason: markup, acceptedAt: at, acceptedBy: store.ids.root };
  await store.beside.records.change({ at, actor: 'test', action: 'accept', object: 'snap/tiny-app' }, (tx) =>
    tx.acceptedFindings.accept({ packageId, vulnerability: 'CVE-2026-1001', ...risk, ...acceptance }),
  );
  return {
    namespace: 'snap',
    name: 'tiny-app',
    revision: '1',
    upload_id: revisions[0]?.['upload-id'] ?? '',
    account_id: store.ids.ada,
    brand_account_id: brand,
    signing_key_sha3_384: key,
    model_name: 'pump',
    session_id: 'none',
    track: 'latest',
    vulnerability: 'CVE-2026-1001',
    number: '1',
    fleet: 'pumps',
    source: 'depot-north',
  };
}

async function trustDepot(store: ConsoleStore): Promise<void> {
  const keys = [seedOf(1), seedOf(2)].map(({ publicKey }) => publicKey);
  const source = { name: 'depot-north', keys, threshold: 2, packages: ['snap/*'], mayRelease: true };
  await store.beside.acts.do(trustSource, itself, { ...source, scanners: [seedOf(3).publicKey], scans: 1 });
  const subscription = { namespace: 'snap', name: 'tiny-app', channels: ['latest/stable'] } as const;
  const subscriptions = [{ ...subscription, architectures: ['amd64', 'arm64'] as const }];
  await store.beside.acts.do(subscribe, itself, { subscriptions, because: null });
}
