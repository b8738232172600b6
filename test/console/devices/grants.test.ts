// The pages of device grants and guardrails of a package.
import t from 'tap';

import { startConsole } from '#test/console/world.ts';

t.setTimeout(600_000);

t.test('an administrator grants a private snap to devices and revokes the grant', async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello', private: true });
  const root = await store.visit('root');
  const at = '/console/packages/snap/hello/device-grants';
  t.match((await root.open('/console/packages/snap/hello')).html, `href="${at}"`);
  const send = async (fields: Record<string, string>) => root.send(await root.open(at), at, fields);
  t.match(await send({ brand: '?' }), { status: 400, text: /'\?' is not the account id of a brand/ });
  t.match(await send({ brand: 'acme', serial: '1' }), { status: 400, text: /A serial belongs to a model/ });
  t.match((await send({ brand: 'acme', model: 'pump' })).text, 'acme pump All');
  t.match(await send({ brand: 'acme', model: 'pump' }), { status: 409, text: /is granted to .* already/ });
  t.match((await send({ brand: 'acme', model: 'pump', serial: "1 'x" })).text, "acme pump 1 'x");

  const ask = await root.open(`${at}/revoke?brand=acme&model=pump&serial=1+%27x`);
  t.match(ask.text, `larder device revoke snap/hello --brand acme --model pump --serial "1 'x"`);
  t.match((await root.send(ask, `${at}/revoke`)).text, 'The grant is revoked.');
  t.match(await root.send(ask, `${at}/revoke`), { status: 404 });
  const { grants } = (await (await store.as('root')).get('/internal/v1/packages/snap/hello/device-grants')).body as {
    grants: unknown[];
  };
  t.match(grants, [{ 'brand-id': 'acme', model: 'pump', serial: null, 'created-by': store.ids.root }]);

  const publisher = await store.visit('ada');
  t.not((await publisher.open(at)).status, 200);
  t.notMatch((await publisher.open('/console/packages/snap/hello')).html, /device-grants|guardrails/);
});

t.test('an administrator adds a guardrail, and the publisher creates a track that matches it', async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  await ada.post('/v1/charm', { name: 'hello' });
  const [root, publisher] = [await store.visit('root'), await store.visit('ada')];
  const at = '/console/packages/charm/hello/guardrails';
  t.match((await root.open('/console/packages/charm/hello')).html, `href="${at}"`);
  t.match((await root.open(at)).text, 'There is no pattern, so publishers create no tracks.');
  const send = async (pattern: string) => root.send(await root.open(at), at, { pattern });
  const refused = await send('(a+)+');
  t.equal(refused.status, 400);
  t.match(refused.html, 'value="(a+)+"', 'the input is there again');
  const pattern = String.raw`[0-9]+\.[0-9]+`;
  t.match((await send(pattern)).text, pattern);
  t.match(await send(pattern), { status: 409, text: /has the guardrail .* already/ });

  const tracks = '/console/packages/charm/hello/tracks';
  const made = await publisher.send(await publisher.open(tracks), tracks, { track: '2.0' });
  t.match(made.text, 'The track is created.');
  const ask = await root.open(`${at}/remove?${new URLSearchParams({ pattern }).toString()}`);
  t.match(ask.text, String.raw`larder guardrail remove charm/hello "[0-9]+\\.[0-9]+"`);
  t.match((await root.send(ask, `${at}/remove`)).text, 'The pattern is removed.');
  t.match((await root.open(tracks)).text, '2.0', 'the track stays');
  t.equal((await root.send(ask, `${at}/remove`)).status, 404);
  t.match(await root.open(ask.address), { status: 404, text: /has no pattern .*, so there is nothing to remove/ });
  t.match(await root.open(`${at}/remove`), { status: 404 });
  t.not((await publisher.open(at)).status, 200);
});
