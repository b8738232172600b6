// The requests of `test/journeys/twice-and-killed.long.test.ts` for a writing operation, and their setup: each request
// acts on an object of its own, which is made for its number.
import { createHash } from 'node:crypto';

import type { Client, Reply, TestAppliance } from '#test/fixtures/appliance.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { declare, logIn, uploadLogin } from '#test/fixtures/packages/images.ts';
import { offered, snapOf } from '#test/fixtures/packages/online-store.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';
import { until } from '#test/fixtures/until.ts';

/** A request that can be sent again, byte by byte. */
export interface WriteRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface WriteWorld {
  store: TestAppliance;
  ada: Client;
  bob: Client;
  root: Client;
  /** The brand of ada, which has a model and a key. */
  brand: string;
  key: string;
}

type MakeRequest = (world: WriteWorld, number: number) => Promise<WriteRequest>;

/**
 * `once`: one of two equal requests takes effect. `each`: both may take effect, because the result is the same. A
 * sentence names another test of the operation, or gives the reason for none; `killed` gives the reason why no request
 * runs at the kill.
 */
export type Writes = { takes: 'once' | 'each'; ask: MakeRequest; killed?: string } | string;

export const once = (ask: MakeRequest, killed?: string): Writes => ({
  takes: 'once',
  ask,
  ...(killed !== undefined && { killed }),
});
export const each = (ask: MakeRequest, killed?: string): Writes => ({
  takes: 'each',
  ask,
  ...(killed !== undefined && { killed }),
});

export const request = ({ token }: Client, method: string, path: string, body?: unknown): WriteRequest => ({
  method,
  path,
  headers: { authorization: `Macaroon ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
  ...(body !== undefined && { body: JSON.stringify(body) }),
});

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the caller knows the shape
export function must({ status, body }: Reply): any {
  if (status < 300) return body;
  throw new Error(`cannot prepare: ${status} ${JSON.stringify(body)}`);
}

export async function makeAccount({ store }: WriteWorld, number: number, prefix: string): Promise<string> {
  const username = `${prefix}${number}`;
  const id = createHash('sha256').update(username).digest('base64url').replace(/[-_]/g, 'x').slice(0, 32);
  store.ids[username] = id;
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'create_account', object: `account/${id}` }, (tx) =>
    filler(tx, at).account(id, username),
  );
  return username;
}

/** A package of ada's with this number and two revisions; with `withBob`, bob is a collaborator. */
export async function makePackage({ store, ada }: WriteWorld, number: number, prefix: string, withBob = false) {
  const name = `${prefix}-${number}`;
  const { id } = must(await ada.post('/v1/bin', { name }));
  for (const revision of [1, 2]) {
    const upload = await ada.upload(`${name} ${revision}`);
    const pushed = must(await ada.post(`/v1/bin/${name}/revisions`, { 'upload-id': upload }));
    await until(async () => must(await ada.get(pushed['status-url'])).revisions[0].status === 'approved');
  }
  if (withBob) await addCollaborator(store, id, 'bob');
  return { name, id, at: `/internal/v1/packages/bin/${name}` };
}

export async function makeTrackedPackage(world: WriteWorld, number: number, prefix: string) {
  const made = await makePackage(world, number, prefix);
  must(await world.root.post(`${made.at}/guardrails`, { pattern: '^[0-9]+$' }));
  must(await world.ada.post(`/v1/bin/${made.name}/tracks`, [{ name: '2' }]));
  return made;
}

/** The address of a rollout of a new snap of ada's. */
export async function makeRollout({ ada }: WriteWorld, number: number, kind: 'pa' | 're' | 'rb'): Promise<string> {
  const name = kind + String(number).padStart(6, '0');
  must(await ada.post('/v1/snap', { name }));
  must(await ada.push('snap', name, snapOf(offered(name, 1))));
  await until(async () => must(await ada.get(`/v1/snap/${name}/revisions`)).revisions.length === 1);
  must(await ada.post(`/v1/snap/${name}/releases`, [{ channel: 'stable', revision: 1, rollout: { steps: [10] } }]));
  const at = `/internal/v1/packages/snap/${name}/rollouts`;
  const [rollout] = must(await ada.get(at)).rollouts;
  return `${at}/${String(rollout.number)}`;
}

/** An upload with this number that waits for a person's review. */
export async function makeScannedUpload({ store, ada }: WriteWorld, number: number, prefix: string): Promise<string> {
  const name = `${prefix}-${number}`;
  const { id } = must(await ada.post('/v1/bin', { name }));
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'test', object: `bin/${name}` }, (tx) =>
    tx.packages.reviewByHand(id, true),
  );
  const upload = await ada.upload(`${name} 1`);
  const pushed = must(await ada.post(`/v1/bin/${name}/revisions`, { 'upload-id': upload }));
  await until(async () => must(await ada.get(pushed['status-url'])).revisions[0].status === 'scanned');
  return upload;
}

export async function makeOfferedPackage(world: WriteWorld, number: number, prefix: string): Promise<string> {
  const { at } = await makePackage(world, number, prefix);
  must(await world.ada.post(`${at}/offer`, { email: 'bob@example.com' }));
  return at;
}

/** The path of the device grants of a new private snap of ada's. */
export async function makeGrantsPath({ ada }: WriteWorld, number: number, prefix: string): Promise<string> {
  must(await ada.post('/v1/snap', { name: `${prefix}-${number}`, private: true }));
  return `/internal/v1/packages/snap/${prefix}-${number}/device-grants`;
}

/** A fleet, and the path of a released snap of ada's for it. */
export async function makeFleet({ ada, root }: WriteWorld, number: number, prefix: string) {
  const fleet = `${prefix}-${number}`;
  must(await root.post('/internal/v1/fleets', { name: fleet, kind: 'serial', devices: [`acme/pump/${fleet}`] }));
  const snap = prefix.slice(0, 2) + String(number).padStart(6, '0');
  must(await ada.post('/v1/snap', { name: snap }));
  must(await ada.push('snap', snap, snapOf(offered(snap, 1))));
  await until(async () => must(await ada.get(`/v1/snap/${snap}/revisions`)).revisions.length === 1);
  must(await ada.post(`/v1/snap/${snap}/releases`, [{ channel: 'stable', revision: 1 }]));
  return { at: `/internal/v1/fleets/${fleet}`, channels: `/internal/v1/packages/snap/${snap}/fleets/${fleet}` };
}

export async function makeRepository({ store, ada }: WriteWorld, number: number, prefix: string) {
  const id = await declare(store, 'ada', `${prefix}-${number}`);
  const client = await logIn(store, await uploadLogin(ada, `${prefix}-${number}`));
  const headers = { authorization: `Bearer ${client.token}` };
  return { client, headers, at: `/v2/images/${id}/image` };
}

export async function send(
  url: string,
  { method, path, headers, body }: WriteRequest,
): Promise<{ status: number; body: string }> {
  const response = await fetch(url + path, { method, headers, body: body ?? null });
  return { status: response.status, body: await response.text() };
}
