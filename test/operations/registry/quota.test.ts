// Images count for the quota of their package's publisher, and are refused by it before anything of them is acknowledged.
import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { footprint } from '#test/fixtures/footprint.ts';
import { declare, digestOf, imageOf, logIn, uploadLogin, type RegistryReply } from '#test/fixtures/packages/images.ts';

const figures = ({ status, code, text }: RegistryReply) => ({
  status,
  code,
  figures: /has (\d+) bytes in the store and may have (\d+); these are (\d+) more/.exec(text)?.slice(1).map(Number),
});
const beyond = (used: number, limit: number, more: number) => ({
  status: 403,
  code: 'DENIED',
  figures: [used, limit, more],
});

t.test('a push beyond the quota is refused with the figures, and nothing of it is stored', async (t) => {
  const store = await startStore(t);
  for (const name of ['hello', 'other']) await declare(store, 'ada', name);
  const [ada, root] = [await store.as('ada'), await store.as('root')];
  const client = await logIn(store, await uploadLogin(ada, 'hello'));
  const path = `/internal/v1/accounts/${store.ids.ada}/quota`;
  const used = async () => (await root.get(path)).body.bytes.used as number;
  const setLimit = async (more: number): Promise<number> => {
    const bytes = (await used()) + more;
    t.equal((await root.post(path, { bytes })).status, 200);
    return bytes;
  };
  const rows = () => {
    const {
      audit,
      image_blobs: blobs,
      image_manifests: manifests,
      passing_registry_uploads: uploads,
    } = footprint(store.directory);
    return { audit, blobs, manifests, uploads };
  };
  const large = 'l'.repeat(60_000);
  const stream = (content: string): ReadableStream =>
    new ReadableStream({
      pull(controller) {
        controller.enqueue(Buffer.from(content));
        controller.close();
      },
    });

  const held = await used();
  const limit = await setLimit(50_000);
  const before = rows();
  t.same(figures(await client.blob(large)), beyond(held, limit, 60_000), 'at once');
  t.same(rows(), before);
  for (const body of [large, stream(large)]) {
    const begun = await client.call('POST', 'blobs/uploads/');
    t.same(
      figures(await client.call('PATCH', begun.headers.get('location') ?? '', body)),
      beyond(held, limit, 60_000),
      typeof body === 'string' ? 'a chunk that says how long it is' : 'one that does not',
    );
    t.same(rows(), before, 'and the upload has ended');
  }
  const begun = await client.call('POST', 'blobs/uploads/');
  const half = await client.call('PATCH', begun.headers.get('location') ?? '', 'l'.repeat(30_000));
  t.equal(half.status, 202);
  const rest = `${half.headers.get('location') ?? ''}&digest=${digestOf(large)}`;
  t.same(figures(await client.call('PUT', rest, 'l'.repeat(30_000))), beyond(held, limit, 60_000), 'the last chunk');
  t.same(rows(), before);

  const [first, two] = ['a', 'b'].map((letter) => letter.repeat(30_000)) as [string, string];
  const both = await Promise.all([client.blob(first), client.blob(two)]);
  t.same(both.map(({ status }) => status).sort(), [201, 403], 'two at once that fit one by one');
  const stored = both[0].status === 201 ? first : two;
  const { config, manifest } = imageOf(stored);
  t.equal((await client.blob(config)).status, 201);
  const full = await setLimit(manifest.length - 1);
  t.same(figures(await client.manifest('1', manifest)), beyond(await used(), full, manifest.length), 'a manifest');
  t.equal(rows().manifests, before.manifests);
  await setLimit(manifest.length);
  t.equal((await client.manifest('1', manifest)).status, 201, 'up to the last byte');
  await setLimit(0);
  const elsewhere = await logIn(store, await uploadLogin(ada, 'other'));
  t.equal((await elsewhere.blob(stored)).status, 201, 'what he has already takes no more room');
  t.same(figures(await elsewhere.blob('!')), beyond(await used(), await used(), 1));
});

t.test('a blob that is larger than everything else of its publisher may fill the quota to the last byte', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const [ada, root] = [await store.as('ada'), await store.as('root')];
  const client = await logIn(store, await uploadLogin(ada, 'hello'));
  const path = `/internal/v1/accounts/${store.ids.ada}/quota`;
  const used = (await root.get(path)).body.bytes.used as number;
  t.equal((await root.post(path, { bytes: used + 30_000 })).status, 200);
  t.same(figures(await client.blob('a'.repeat(30_001))), beyond(used, used + 30_000, 30_001));
  t.equal((await client.blob('a'.repeat(30_000))).status, 201);
});
