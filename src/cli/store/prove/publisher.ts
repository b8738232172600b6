// Works as publishers do, records each acknowledged change, and finds acknowledged changes that a store has lost or made twice.
import { setTimeout as sleep } from 'node:timers/promises';
import { randomBytes } from '#domain/cryptography.ts';
import { callStore, ConnectionCut, digestContent, requestToken, uploadContent, type StoreClient } from './client.ts';

/** The changes that a store acknowledged to one publisher. */
export interface Ledger {
  readonly namespace: 'bin' | 'snap';
  readonly name: string;
  /** Registered names with their ids. */
  readonly names: Map<string, string>;
  /** Uploads with the SHA3-384 of their content. */
  readonly uploads: Map<string, string>;
  readonly pushes: Set<string>;
  readonly revisions: Map<number, string>;
  /** The newest revision in each channel; each release is of a newer one. */
  readonly channels: Map<string, number>;
  readonly revoked: Set<string>;
  title: number;
  /** The number of all changes. */
  acknowledged: number;
  /** The responses with 5xx, such as `507 POST /v1/bin`, and connections that were cut before `isOver`. */
  readonly serverErrors: string[];
}

/** Chooses a whole number from 0 to below the limit. */
export type Choose = (limit: number) => number;

export interface PublisherWork {
  choose: Choose;
  /** A valid snap, for a publisher of snaps: bytes after its end are allowed and make it another file. */
  snap: Uint8Array;
  /** Whether to end; checked before each request. */
  isOver: () => boolean;
}

export const newLedger = (namespace: 'bin' | 'snap', name: string): Ledger => ({
  namespace,
  name,
  names: new Map(),
  uploads: new Map(),
  pushes: new Set(),
  revisions: new Map(),
  channels: new Map(),
  revoked: new Set(),
  title: 0,
  acknowledged: 0,
  serverErrors: [],
});

/** So many that one request lists all revisions. */
const maxUploads = 400;

const reviewTimeoutMs = 180_000;

/** A change was not acknowledged; the publisher begins again with another. */
class NotAcknowledged extends Error {}

/** Makes changes until `isOver`, and records each that is acknowledged. */
export async function publish(ledger: Ledger, client: StoreClient, work: PublisherWork): Promise<void> {
  while (!work.isOver()) {
    try {
      if (ledger.uploads.size < maxUploads) await publishRevision(ledger, client, work);
      await changeOthers(ledger, client);
    } catch (error) {
      if (!(error instanceof NotAcknowledged || error instanceof ConnectionCut)) throw error;
      if (work.isOver()) return;
      if (error instanceof ConnectionCut) ledger.serverErrors.push('with a cut connection');
      // A store that is out of something gets no tight loop of requests.
      await sleep(20);
    }
  }
}

/** Calls the store; a response other than 2xx is not acknowledged. */
async function change(
  ledger: Ledger,
  client: StoreClient,
  ...[method, path, body]: [method: string, path: string, body?: unknown]
): Promise<unknown> {
  const reply = await callStore(client, method, path, body);
  return acknowledge(ledger, reply, `${method} ${path}`);
}

function acknowledge(ledger: Ledger, { status, body }: { status: number; body: unknown }, request: string): unknown {
  if (status < 300) {
    if (!request.startsWith('GET ')) ledger.acknowledged += 1;
    return body;
  }
  if (status < 500) throw new Error(`the store refused ${request} with ${String(status)}: ${JSON.stringify(body)}`);
  ledger.serverErrors.push(`${String(status)} ${request}`);
  throw new NotAcknowledged();
}

async function publishRevision(
  ledger: Ledger,
  client: StoreClient,
  { choose, snap, isOver }: PublisherWork,
): Promise<void> {
  const path = `/v1/${ledger.namespace}/${ledger.name}`;
  const random = randomBytes(16 + choose(100_000));
  const content = ledger.namespace === 'snap' ? Buffer.concat([snap, random]) : random;
  const sent = await uploadContent(client, new Uint8Array(content));
  const { upload_id: upload } = acknowledge(ledger, sent, 'POST /unscanned-upload/') as { upload_id: string };
  const digest = digestContent(content);
  ledger.uploads.set(upload, digest);
  const pushed = await change(ledger, client, 'POST', `${path}/revisions`, { 'upload-id': upload });
  ledger.pushes.add(upload);
  const { 'status-url': statusUrl } = pushed as { 'status-url': string };
  for (;;) {
    const [review] = ((await change(ledger, client, 'GET', statusUrl)) as ReviewList).revisions;
    if (review?.status === 'rejected') throw new Error(`the store rejected a valid file: ${JSON.stringify(review)}`);
    if (review?.status === 'approved') {
      ledger.revisions.set(review.revision, digest);
      const channel = `latest/${['edge', 'beta', 'edge/branch'][choose(3)]!}`;
      await change(ledger, client, 'POST', `${path}/releases`, [{ channel, revision: review.revision }]);
      ledger.channels.set(channel, review.revision);
      return;
    }
    if (isOver()) return;
    await sleep(5);
  }
}

/** Changes a title, registers a name, and revokes a token. */
async function changeOthers(ledger: Ledger, client: StoreClient): Promise<void> {
  const path = `/v1/${ledger.namespace}/${ledger.name}`;
  await change(ledger, client, 'PATCH', path, { title: String(ledger.title + 1) });
  ledger.title += 1;
  const other = `name-${randomBytes(6).toString('hex')}`;
  const registered = await change(ledger, client, 'POST', '/v1/bin', { name: other });
  ledger.names.set(other, (registered as { id: string }).id);
  const issued = acknowledge(ledger, await requestToken(client), 'POST /v1/tokens/offline/exchange');
  const { macaroon: token } = issued as { macaroon: string };
  const { macaroons } = (await change(ledger, { ...client, token }, 'GET', '/v1/tokens')) as {
    macaroons: { 'session-id': string }[];
  };
  // The caveats of a token are no secret to its holder: one of them names the session.
  const text = Buffer.from(token, 'base64url').toString('latin1');
  const session = macaroons.find(({ 'session-id': id }) => text.includes(id))?.['session-id'];
  await change(ledger, client, 'POST', '/v1/tokens/revoke', { 'session-id': session });
  ledger.revoked.add(token);
}

interface ReviewList {
  revisions: { status: string; revision: number }[];
}

/** Waits for the end of the reviews of a package. */
export async function awaitReviews({ namespace, name }: Ledger, client: StoreClient): Promise<void> {
  const deadline = performance.now() + reviewTimeoutMs;
  for (;;) {
    const { body } = await callStore(client, 'GET', `/v1/${namespace}/${name}/revisions/review`);
    if (!(body as ReviewList).revisions.some(({ status }) => status === 'new')) return;
    if (performance.now() > deadline) throw new Error(`reviews of ${name} do not end`);
    await sleep(10);
  }
}

/** Compares the acknowledged changes with the store; returns a sentence for each that is lost or was made twice. */
export async function findLost(ledger: Ledger, client: StoreClient): Promise<string[]> {
  await awaitReviews(ledger, client);
  const get = async (path: string, token = client.token) => callStore({ ...client, token }, 'GET', path);
  const { namespace, name } = ledger;
  const path = `/v1/${namespace}/${name}`;
  const lost: string[] = [];
  for (const [other, id] of ledger.names) {
    const { body } = await get(`/v1/bin/${other}?fields=id`);
    if ((body as { metadata?: { id?: string } }).metadata?.id !== id) lost.push(`the name ${other} is lost`);
  }
  lost.push(...(await findLostRevisions(ledger, client)));
  const releases = (await get(`${path}/releases`)).body as { 'channel-map': { channel: string; revision: number }[] };
  for (const [channel, revision] of ledger.channels) {
    const now = releases['channel-map'].find((entry) => entry.channel === channel)?.revision ?? 0;
    if (now < revision) lost.push(`the release of ${name} ${String(revision)} to ${channel} is lost`);
  }
  const { title } = ((await get(`${path}?fields=title`)).body as { metadata: { title: string | null } }).metadata;
  if (Number(title ?? 0) < ledger.title) lost.push(`the title ${String(ledger.title)} of ${name} is lost`);
  // A change counts from here on, even if its acknowledgement was cut off.
  ledger.title = Math.max(ledger.title, Number(title ?? 0));
  for (const token of ledger.revoked) {
    if ((await get('/v1/tokens/whoami', token)).status !== 401) lost.push('the revocation of a token is lost');
  }
  return lost;
}

/** Checks uploads, pushes and revisions: each exists once, and numbers have no gap. */
async function findLostRevisions(ledger: Ledger, client: StoreClient): Promise<string[]> {
  const path = `/v1/${ledger.namespace}/${ledger.name}/revisions`;
  const lost: string[] = [];
  for (const upload of ledger.uploads.keys()) {
    const { status, body } = await callStore(client, 'GET', `${path}/review?upload-id=${upload}`);
    const reviews = status === 200 ? (body as ReviewList).revisions : [];
    if (reviews.length === 1 && reviews[0]!.status === 'approved') continue;
    if (ledger.pushes.has(upload)) lost.push(`the push of the upload ${upload} is lost`);
    else if ((await callStore(client, 'POST', path, { 'upload-id': upload })).status !== 200)
      lost.push(`the upload ${upload} is lost`);
    else ledger.pushes.add(upload);
  }
  await awaitReviews(ledger, client);
  const { body } = await callStore(client, 'GET', `${path}?limit=500&fields=revision,sha3-384`);
  const { revisions } = body as { revisions: { revision: number; 'sha3-384': string }[] };
  const digests = new Map(revisions.map((each) => [each.revision, each['sha3-384']]));
  for (const [revision, digest] of ledger.revisions)
    if (digests.get(revision) !== digest) lost.push(`revision ${String(revision)} of ${ledger.name} is lost`);
  const stored = new Set(digests.values());
  for (const upload of ledger.pushes)
    if (!stored.has(ledger.uploads.get(upload)!)) lost.push(`the content of the upload ${upload} is lost`);
  if (stored.size !== revisions.length) lost.push(`a revision of ${ledger.name} was made twice`);
  if (revisions.some(({ revision }, at) => revision !== revisions.length - at))
    lost.push(`the revisions of ${ledger.name} have a gap`);
  return lost;
}
