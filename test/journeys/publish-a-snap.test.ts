// The main job, from an empty host to a key request in an administrator's hand, as each person does a part of it.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import t from 'tap';

import { snapFixture } from '#test/fixtures/appliance.ts';
import { dataFolder, larder, serve } from '#test/fixtures/processes/served.ts';

interface Reply {
  status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the caller knows the shape
  body: any;
}

t.test('a snap is published on an isolated host, and a key request carried away', async (t) => {
  const data = dataFolder(t);

  // An administrator makes the store and serves it.
  const made = await larder('init', '--data', data);
  t.match(made, { data, config: join(data, 'larder.toml'), 'base-url': 'http://127.0.0.1:8080' });
  const served = await serve(data);
  t.teardown(() => served.stop());
  const call = async (method: string, path: string, token: string, body?: unknown): Promise<Reply> => {
    const response = await fetch(`${served.url}/publishergw${path}`, {
      method,
      headers: { ...(token !== '' && { authorization: `macaroon ${token}` }), 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };

  // The client of a publisher exchanges the credential of the administrator, with the newline that the shell has kept,
  // and asks for its identity.
  const credential = await readFile(made['admin-macaroon-file'] ?? '', 'utf8');
  const exchanged = await call('POST', '/v1/tokens/offline/exchange', '', { macaroon: credential });
  t.equal(exchanged.status, 200);
  const publisher = (exchanged.body as { macaroon: string }).macaroon;
  t.match(await call('GET', '/v1/tokens/whoami', publisher), {
    status: 200,
    body: { account: { id: made['admin-account-id'], email: String, username: String }, permissions: null },
  });

  // ada registers a name, sends a real snap without a token, as the client does, pushes it, and polls until it is
  // approved.
  const registered = await call('POST', '/v1/snap', publisher, { name: 'tiny-app' });
  t.match(registered, { status: 200, body: { id: /^[a-zA-Z0-9]{32}$/ } });
  const snapId = (registered.body as { id: string }).id;
  const snap = await snapFixture('app-xz');
  const form = new FormData();
  form.set(
    'binary',
    new Blob([new Uint8Array(snap)], { type: 'application/octet-stream' }),
    'tiny-app_1.10_amd64.snap',
  );
  const sent = (await (await fetch(`${served.url}/unscanned-upload/`, { method: 'POST', body: form })).json()) as {
    successful: boolean;
    upload_id: string;
  };
  t.match(sent, { successful: true, upload_id: /^[0-9a-f-]{36}$/ });
  const pushed = await call('POST', '/v1/snap/tiny-app/revisions', publisher, { 'upload-id': sent.upload_id });
  const statusUrl = (pushed.body as { 'status-url': string })['status-url'];
  t.equal(statusUrl, `/v1/snap/tiny-app/revisions/review?upload-id=${sent.upload_id}`);
  let review = await call('GET', statusUrl, publisher);
  while (['new', 'scanned'].includes(review.body.revisions[0].status as string))
    review = await call('GET', statusUrl, publisher);
  t.same(review.body, {
    revisions: [{ 'upload-id': sent.upload_id, status: 'approved', revision: 1, errors: null }],
  });

  // ada releases it to edge and to stable, and checks its description.
  const released = await call('POST', '/v1/snap/tiny-app/releases', publisher, [
    { channel: 'edge', revision: 1 },
    { channel: 'latest/stable', revision: 1 },
  ]);
  t.same(released.body, {
    released: [
      { channel: 'latest/edge', revision: 1, resources: [] },
      { channel: 'latest/stable', revision: 1, resources: [] },
    ],
  });
  const releases = await call('GET', '/v1/snap/tiny-app/releases', publisher);
  t.match(releases.body, {
    'channel-map': [
      { channel: 'latest/stable', architecture: 'amd64', revision: 1, 'expiration-date': null },
      { channel: 'latest/edge', architecture: 'amd64', revision: 1, progressive: { paused: null, percentage: null } },
    ],
    package: {
      channels: [
        { name: 'latest/stable', fallback: null },
        { name: 'latest/candidate', fallback: 'latest/stable' },
        { name: 'latest/beta', fallback: 'latest/candidate' },
        { name: 'latest/edge', fallback: 'latest/beta' },
      ],
    },
    revisions: [{ revision: 1, version: '1.10', type: 'app', apps: ['run', 'other'], status: 'released' }],
  });
  const revisions = await call('GET', '/v1/snap/tiny-app/revisions', publisher);
  t.match(revisions.body.revisions, [
    { revision: 1, version: '1.10', confinement: 'strict', grade: 'stable', size: 4096 },
  ]);
  t.notOk('apps' in revisions.body.revisions[0], 'the stock client takes no more members than it knows');

  // A device gateway looks up the publisher, and two more accounts; one of them may collaborate later.
  const ask = (token: string): Promise<Reply> =>
    fetch(`${served.url}/internal/v1/package-permissions`, {
      method: 'POST',
      headers: { authorization: `Macaroon ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ filters: [{ type: 'snap', id: snapId }] }),
    }).then(async (response) => ({ status: response.status, body: await response.json() }));
  t.match(await ask(publisher), {
    status: 200,
    body: { packages: [{ type: 'snap', id: snapId, 'allowed-by-revision': true }] },
  });
  for (const name of ['bob', 'carol']) {
    const account = await larder(
      ...[
        'account',
        'create',
        '--data',
        data,
        '--email',
        `${name}@example.com`,
        '--username',
        name,
        '--display-name',
        name,
      ],
    );
    const token = await larder('token', 'issue', '--data', data, '--account', account['id'] ?? '');
    t.match(await ask(token['macaroon'] ?? ''), {
      status: 200,
      body: { account: { username: name }, packages: [{ type: 'snap', id: snapId, 'allowed-by-revision': false }] },
    });
    t.match(
      await call('GET', '/v1/snap/tiny-app', token['macaroon'] ?? ''),
      { status: 404 },
      'to a stranger it does not exist',
    );
  }

  // The administrator makes the account a brand, has it a signing key made, and carries the request for it away.
  const brand = made['admin-account-id'] ?? '';
  await larder('brand', 'create', '--data', data, '--account', brand, '--name', 'Acme');
  t.match(await call('GET', `/v1/brand/${brand}`, publisher), {
    status: 200,
    body: { 'account-id': brand, name: 'Acme' },
  });
  const key = await call('POST', `/v1/brand/${brand}/signing_key`, publisher, { name: 'serial-key' });
  t.match(key, {
    status: 201,
    body: { name: 'serial-key', fingerprint: /^[0-9A-F]{40}$/, 'sha3-384': /^[A-Za-z0-9_-]{64}$/ },
  });
  const keyId = (key.body as { 'sha3-384': string })['sha3-384'];
  t.match(await call('GET', `/v1/brand/${brand}/signing_key`, publisher), {
    body: [{ name: 'serial-key', 'sha3-384': keyId }],
  });
  const request = await call('POST', `/v1/brand/${brand}/signing_key/${keyId}/account-key-request`, publisher);
  const text = (request.body as { 'account-key-request': string })['account-key-request'];
  t.match(
    text,
    new RegExp(`^type: account-key-request\npublic-key-sha3-384: ${keyId}\naccount-id: ${brand}\nname: serial-key\n`),
  );

  // At night it stops in order, and in the morning it is all still there.
  t.equal(await served.stop(), 0);
  const again = await serve(data);
  const morning = await fetch(`${again.url}/v1/snap/tiny-app`, { headers: { authorization: `Macaroon ${publisher}` } });
  t.match(await morning.json(), { metadata: { name: 'tiny-app', status: 'published' } });
  t.equal(await again.stop(), 0);
  for (const secret of [credential.trim(), publisher])
    t.notOk((served.log() + again.log()).includes(secret), 'no secret is logged');
});
