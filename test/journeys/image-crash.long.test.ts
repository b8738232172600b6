// The process is killed during pushes of images, again and again. Every acknowledged blob and manifest is complete, and
// unfinished ones leave nothing.
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import t from 'tap';

import { sweepBlobs } from '#jobs/store/sweep-blobs.ts';
import { openStore } from '#data/store.ts';
import { withBlobs } from '#data/blobs.ts';
import { after, hours } from '#domain/clock.ts';
import { charm } from '#test/fixtures/packages/archives.ts';
import { contentsOf, halfReceived, readContent } from '#test/fixtures/contents.ts';
import { descriptor, digestOf, mediaTypes } from '#test/fixtures/packages/images.ts';
import { kill } from '#test/fixtures/processes/kill.ts';
import { dataFolder, larder, serve } from '#test/fixtures/processes/served.ts';
import { until } from '#test/fixtures/until.ts';

const kills = process.env['LARDER_LONG'] === '1' ? 30 : 3;
const pushers = 3;
t.setTimeout(1_800_000);

type Call = (method: string, path: string, body?: string | Buffer, type?: string) => Promise<Response>;

t.test('an acknowledged push survives kill -9, and an unfinished push leaves nothing', async (t) => {
  const data = dataFolder(t);
  const made = await larder('init', '--data', data);
  const credential = readFileSync(made['admin-macaroon-file'] ?? '', 'utf8');
  /** The acknowledged contents, by their paths. */
  const acknowledged = new Map<string, Buffer>();
  let repository = '';

  for (let round = 0; round <= kills; round++) {
    const served = await serve(data);
    t.teardown(() => kill(served.process));
    t.same(halfReceived(data), [], 'no upload is left half received');
    const publisher = await publisherOf(served.url, credential);
    if (round === 0) await declareImage(publisher);
    const login = (await (
      await publisher('GET', '/v1/charm/hello/resources/image/oci-image/upload-credentials')
    ).json()) as Record<string, string>;
    repository = (login['image-name'] ?? '').replace(/^[^/]*\//, '');
    const call = await pusherOf(served.url, repository, login);
    const lost: string[] = [];
    for (const [path, content] of acknowledged) {
      const reply = await call('GET', path);
      if (reply.status !== 200 || !Buffer.from(await reply.arrayBuffer()).equals(content)) lost.push(path);
    }
    t.same(lost, [], `of ${acknowledged.size} acknowledged blobs and manifests none is lost`);
    if (round === kills) {
      t.equal(await served.stop(), 0);
      break;
    }
    const over = (): boolean => served.process.killed;
    const work = Array.from({ length: pushers }, () => pushUntilCutOff(call, acknowledged, over));
    // However slow the machine is, something was acknowledged when it ends; in the last round, more than one for each kill.
    const before = acknowledged.size;
    const threshold = round + 1 < kills ? before : Math.max(before, kills);
    await until(() => acknowledged.size > threshold, Promise.all(work));
    await sleep(randomInt(0, 600));
    await kill(served.process);
    await Promise.all(work);
  }
  t.ok(acknowledged.size > kills, `${acknowledged.size} blobs and manifests were acknowledged`);

  // The sweep leaves what the records know, and nothing else.
  const store = await openStore({ directory: data });
  await withBlobs(store, ({ blobs }) => sweepBlobs(store.records, blobs, () => after(new Date(), hours(2))).run());
  for (const file of contentsOf(data)) t.ok(await store.records.neededContents.has(file), 'a record needs it');
  await store.close();
  const digests = contentsOf(data).map((content) =>
    createHash('sha256').update(readContent(data, content)).digest('hex'),
  );
  for (const path of acknowledged.keys())
    t.ok(digests.includes(path.slice(-64)), 'what was acknowledged outlives the sweep');
  t.same(readdirSync(join(data, 'blobs/tmp')), []);
});

/** Pushes images of blobs of all sizes, and records the acknowledged ones, until there is no response. */
async function pushUntilCutOff(call: Call, acknowledged: Map<string, Buffer>, isOver: () => boolean): Promise<void> {
  try {
    for (;;) {
      const [config, layer] = [randomBytes(100), randomBytes(randomInt(1, 3_000_000))];
      for (const blob of [config, layer]) {
        const begun = await call('POST', 'blobs/uploads/');
        let location = begun.headers.get('location') ?? '';
        for (let at = 0; at < blob.length; at += 1_000_000) {
          const sent = await call('PATCH', location, blob.subarray(at, at + 1_000_000));
          if (sent.status !== 202) throw new Error(`cannot go on: ${sent.status} ${await sent.text()}`);
          location = sent.headers.get('location') ?? '';
        }
        const done = await call('PUT', `${location}&digest=${digestOf(blob)}`);
        if (done.status !== 201) throw new Error(`cannot go on: ${done.status} ${await done.text()}`);
        acknowledged.set(`blobs/${digestOf(blob)}`, blob);
      }
      const manifest = JSON.stringify({
        schemaVersion: 2,
        mediaType: mediaTypes.manifest,
        config: descriptor(config, mediaTypes.config),
        layers: [descriptor(layer, mediaTypes.layer)],
      });
      const put = await call('PUT', `manifests/${digestOf(manifest)}`, manifest, mediaTypes.manifest);
      if (put.status !== 201) throw new Error(`cannot go on: ${put.status} ${await put.text()}`);
      acknowledged.set(`manifests/${digestOf(manifest)}`, Buffer.from(manifest));
    }
  } catch (error) {
    // fetch throws a TypeError when the connection ends.
    if (isOver() && error instanceof TypeError) return;
    throw error;
  }
}

async function publisherOf(url: string, credential: string): Promise<Call> {
  const exchanged = await fetch(`${url}/v1/tokens/offline/exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ macaroon: credential }),
  });
  const { macaroon } = (await exchanged.json()) as { macaroon: string };
  return (method, path, body) =>
    fetch(url + path, {
      method,
      headers: { authorization: `Macaroon ${macaroon}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    });
}

/** A charm with a revision that declares an image. */
async function declareImage(call: Call): Promise<void> {
  await call('POST', '/v1/charm', JSON.stringify({ name: 'hello' }));
  const form = new FormData();
  form.set('binary', new Blob([charm('hello', {}, 'resources:\n  image:\n    type: oci-image\n')]), 'file');
  const base = (await call('GET', '/')).url;
  const upload = await fetch(new URL('/unscanned-upload/', base), { method: 'POST', body: form });
  const { upload_id: id } = (await upload.json()) as { upload_id: string };
  const pushed = await call('POST', '/v1/charm/hello/revisions', JSON.stringify({ 'upload-id': id }));
  const { 'status-url': path } = (await pushed.json()) as { 'status-url': string };
  for (;;) {
    const [review] = ((await (await call('GET', path)).json()) as { revisions: { status: string }[] }).revisions;
    if (review?.status === 'approved') return;
    if (review?.status === 'rejected') throw new Error(`cannot go on: ${JSON.stringify(review)}`);
    await sleep(20);
  }
}

async function pusherOf(url: string, repository: string, login: Record<string, string>): Promise<Call> {
  const basic = Buffer.from(`${login['username'] ?? ''}:${login['password'] ?? ''}`).toString('base64');
  const fetched = await fetch(`${url}/registry/token?scope=repository:${repository}:pull,push`, {
    headers: { authorization: `Basic ${basic}` },
  });
  const { token } = (await fetched.json()) as { token: string };
  return (method, path, body, type = 'application/octet-stream') =>
    fetch(new URL(path, `${url}/v2/${repository}/`), {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      ...(body !== undefined && { body }),
    });
}
