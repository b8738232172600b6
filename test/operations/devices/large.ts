// A snap that is larger than the buffers between two sockets, and stalled downloads of it.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';

import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { pack } from '#test/review/packed.ts';

/** Of nothing that compresses. */
const snapYaml = 'name: large\nversion: 1\nbase: core22\narchitectures: [all]\nsummary: s\ndescription: d\n';

/** A store that has released it, and its download path. */
export async function withLargeSnap(
  t: Parameters<typeof startStore>[0] & Parameters<typeof pack>[0],
  configure: (text: string) => string,
): Promise<{ store: TestAppliance; content: Buffer; path: string }> {
  const store = await startStore(t, (text) => configure(servingSnaps(text)));
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'large' })).body;
  const content = readFileSync(pack(t, { 'meta/snap.yaml': snapYaml, data: randomBytes(48 * 1024 * 1024) }));
  t.match(await ada.push('snap', 'large', content), { body: { revisions: [{ status: 'approved' }] } });
  await ada.post('/v1/snap/large/releases', [{ channel: 'stable', revision: 1 }]);
  return { store, content, path: `/api/v1/snaps/download/${id}_1.snap` };
}

/** A download with its first bytes received; nothing more is read by itself. */
export async function begin(url: string): Promise<{ response: IncomingMessage; closed: Promise<unknown> }> {
  const call = get(url, { agent: false });
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  const closed = once(response, 'close').catch(() => undefined);
  response.on('error', () => undefined);
  return { response, closed };
}
