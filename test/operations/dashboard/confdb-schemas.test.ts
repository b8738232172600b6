// Confdb-schemas: made by publishers with keys of their own, sent as snapcraft does, and read by devices.
import t from 'tap';
import { joined, type Headers } from '#assertions/format/assertion.ts';
import { storageBody, confdbSchema } from '#test/assertions/world.ts';
import type { Reply } from '#test/fixtures/appliance.ts';
import { addBrand } from '#test/fixtures/brands.ts';
import { larder } from '../../cli/world.ts';
import { newest } from '../../acts/ways.ts';
import { keys, withKey, sign, post as postTo } from './validation-sets-world.ts';

const at = '/api/v2/confdb-schemas';
const build = `${at}/build-assertion`;
const post = (client: Parameters<typeof postTo>[0], text: string): Promise<Reply> => postTo(client, text, at);
const refused = (status: number, code: string, message: RegExp) => ({
  status,
  body: { error_list: [{ code, message }] },
});
const bad = (message: RegExp) => refused(400, 'api-error', message);
const views = { setup: { summary: 'Set up', rules: [{ request: 'wifi', storage: 'wifi', access: 'read' }] } };

t.test('a schema is built, signed, posted, listed, and built again', async (t) => {
  const { store, ada } = await withKey(t);
  const list = (path = '', client = ada): Promise<Reply> =>
    client.get(`${at}${path}`, { 'content-type': 'application/json', accept: 'application/json' });
  t.same((await list()).body, { assertions: [] });
  t.same((await list('/network')).body, { assertions: [] }, 'not there is an empty list');

  // As its author writes it: members in any order, on one line.
  const draft = {
    'account-id': store.ids.ada,
    name: 'network',
    summary: 'The network',
    views,
    body: '{"storage":{"schema":{"wifi":"any"}}}',
  };
  const built = await ada.post(build, draft);
  const headers = {
    type: 'confdb-schema',
    'authority-id': store.ids.ada,
    'account-id': store.ids.ada,
    name: 'network',
    revision: '0',
    summary: 'The network',
    timestamp: '2026-11-20T12:00:00Z',
    views,
  };
  t.same([built.status, built.body], [200, { ...headers, body: storageBody }], 'in the form that devices require');
  const text = await sign(built.body as Headers);
  const posted = await post(ada, text);
  t.same([posted.status, posted.body], [201, { assertions: [{ headers, body: storageBody }] }]);
  const name = `confdb-schema/${store.ids.ada}/network`;
  t.same(await newest(store), {
    action: 'post_confdb_schema',
    object: name,
    outcome: 'done',
    details: { revision: 0, key: keys.device.id },
  });
  const exported = await larder(`assertion export confdb-schema ${store.ids.ada} network --data ${store.directory}`);
  t.ok(exported.out.includes(text.trimEnd()), 'as it was signed');
  t.match(await post(ada, text), refused(409, 'conflict', /Revision 0 of .* is not newer/));

  const again = await ada.post(build, { ...draft, summary: 'Changed' });
  t.match(again.body, { revision: '1', summary: 'Changed' }, 'the next revision');
  t.match((await ada.post(build, { ...draft, revision: 5 })).body, { revision: '5' });
  t.match((await ada.post(build, { ...draft, revision: 0 })).body, { revision: '1' });
  const second = await sign(again.body as Headers);
  const both = await Promise.all([post(ada, second), post(ada, second)]);
  t.same(both.map(({ status }) => status).sort(), [201, 409], 'twice at once: one of them');
  const plain: Partial<typeof draft> = { ...draft };
  delete plain.summary;
  await post(ada, await sign((await ada.post(build, { ...plain, name: 'audio' })).body as Headers));
  const shown = async (path: string): Promise<string[]> =>
    (await list(path)).body.assertions.map(
      ({ headers: fields }: { headers: Record<string, string> }) =>
        `${fields['name']} ${fields['revision']} ${fields['summary']}`,
    );
  t.same(await shown(''), ['audio 0 undefined', 'network 1 Changed']);
  t.same(await shown('/network'), ['network 1 Changed']);
  t.same(await shown('/nothing_here'), []);
  t.same(
    (await list('', await store.as('bob'))).body,
    { assertions: [] },
    'the schemas of other accounts are not listed',
  );
});

t.test('the owner of a schema, and its permitted signers', async (t) => {
  const { store, ada, register } = await withKey(t);
  await store.join('carol');
  const brand = await addBrand(store, 'carol', ['ada']);
  const draft = (accountId: string, more: object = {}) => ({
    'account-id': accountId,
    name: 'network',
    views,
    body: storageBody,
    ...more,
  });
  t.match(await ada.post(build, draft(store.ids.bob)), refused(403, 'forbidden', /is neither/));
  const bob = await store.as('bob');
  const foreign = await bob.post(build, draft(store.ids.bob));
  t.match(await post(ada, await sign(foreign.body as Headers)), refused(403, 'forbidden', /is neither/));
  t.match(await post(bob, await sign(foreign.body as Headers)), bad(/belongs to 'A{32}'/));

  const forBrand = await ada.post(build, draft(brand));
  t.match(await post(ada, await sign(forBrand.body as Headers)), bad(/the key that signed it belongs to 'A{32}'/));
  t.match(await register(await store.as('carol'), brand, keys.second.id), { status: 202 });
  t.match(await post(ada, await sign(forBrand.body as Headers, 'second')), { status: 201 });
  t.match((await ada.get(`${at}/network`)).body.assertions, [{ headers: { 'account-id': brand } }]);

  const own = (await ada.post(build, draft(store.ids.ada))).body as Headers;
  const text = await sign(own);
  t.match(await post(ada, text.replace('"any"', '"all"')), bad(/changed after it was signed/));
  t.match(await post(ada, await sign({ ...own, timestamp: '2026-01-01T00:00:00Z' })), bad(/outside of the time/));
  t.match(await post(ada, joined(await confdbSchema({ 'account-id': 'system' }, 'store', 'canonical'))), {
    status: 403,
  });
  t.match(await post(ada, `${text}\n${text}`), bad(/./));
  t.match(await post(ada, 'x'.repeat(1024 * 1024 + 1)), { status: 413 });
  t.match(await ada.post(at, {}), { status: 415 });
  t.match(await post(store.anyone, text), { status: 401 });
  t.match(
    await post(await store.as('ada', { packages: [{ type: 'snap', name: 'pcx' }] }), text),
    refused(403, 'permission-required', /this operation concerns no single package/),
  );
  t.match(await post(ada, text), { status: 201 });

  for (const [more, message] of [
    [{ body: 'storage' }, /The body is not JSON/],
    [{ body: '{}' }, /'body' must be a JSON object with the member 'storage'/],
    [{ body: '{"storage":{"schema":{}},"storage":{"schema":{}}}' }, /'storage' appears twice/],
    [{ body: `{"storage":${'{"schema":'.repeat(70)}1${'}'.repeat(70)}}` }, /more than 64 levels/],
    [{ body: undefined }, /body/],
    [{ views: {} }, /views/],
    [{ views: { Setup: { rules: [{ storage: 'a' }] } } }, /'Setup' must be lower-case letters/],
    [{ views: { setup: {} } }, /'rules' is missing/],
    [{ views: { setup: { rules: [] } } }, /'rules' is empty/],
    [{ views: { setup: { rules: [{ storage: 1 }] } } }, /The views hold a value that is not text/],
    [{ views: { setup: { rules: [{ storage: null }] } } }, /The views hold a value that is not text/],
    [{ views: { setup: { rules: [{ storage: 'a', access: 'all' }] } } }, /'access' is "all"/],
    [{ name: 'Network' }, /'name' is "Network"/],
    [{ name: 'a/b' }, /'name'/],
    [{ revision: '1' }, /revision/],
    [{ unexpected: 1 }, /unexpected/],
  ] as const) {
    t.match(await ada.post(build, draft(store.ids.ada, more)), bad(message), JSON.stringify(more).slice(0, 100));
  }
});
