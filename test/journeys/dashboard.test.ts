// Stock snapcraft without on-prem mode, command by command, as the snap store delivers it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

import { accountKeyRequest } from '#assertions/keys/account-key-request.ts';
import { stream, type Headers } from '#assertions/format/assertion.ts';
import { signAssertion } from '#assertions/keys/signer.ts';
import { hours } from '#domain/clock.ts';
import * as world from '#test/assertions/world.ts';
import { snapFixture, startStore, type Reply } from '#test/fixtures/appliance.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { snapcraft, Stopped } from '#test/fixtures/clients/snapcraft.ts';
import { snapcraftEdits } from '#test/fixtures/clients/snapcraft-edits.ts';
import { larder } from '../cli/world.ts';
import { password, startIdentity } from '../identity/world.ts';

t.test('a snap is registered, uploaded, released, promoted and closed', async (t) => {
  const store = await startIdentity(t);
  const ada = snapcraft(store.url, 'ada@example.com', password);
  const sent = async (work: () => Promise<unknown>): Promise<string[]> => {
    ada.calls.length = 0;
    await work();
    const id = (await store.beside.records.packages.find('snap', 'tiny-app'))?.id ?? 'none';
    // It asks for the status every second, as long as it takes.
    return [...new Set(ada.calls)].map((call) => call.replaceAll(id, 'ID').replace(/uploads\/[^/]+/, 'uploads/U'));
  };
  t.same(await sent(() => ada.login()), ['POST /dev/api/acl/', 'POST /api/v2/tokens/discharge']);
  t.match(await ada.whoami(), { account: { username: 'ada', id: store.ids.ada } });
  t.same(await sent(() => ada.register('tiny-app')), ['POST /dev/api/register-name/']);
  t.same(await ada.names(), ['tiny-app']);
  await t.rejects(ada.upload('other', Buffer.from('')), new Stopped(), 'nothing is sent of a snap that is not hers');
  t.equal(ada.calls.at(-1), 'POST /dev/api/snap-push/');

  const file = await snapFixture('app-xz');
  const id = (): Promise<string> => ada.idOf('tiny-app');
  t.same(await sent(async () => t.equal(await ada.upload('tiny-app', file), 1)), [
    'POST /dev/api/snap-push/',
    'POST /unscanned-upload/',
    'GET /dev/api/snaps/ID/uploads/U/status',
  ]);
  await t.rejects(ada.upload('tiny-app', file), { message: /already exists in the database, as revision 1/ });
  t.equal(await ada.upload('tiny-app', await snapFixture('app-gzip'), ['edge', 'latest/beta']), 2);
  t.same(await ada.status('tiny-app'), ['amd64 latest/beta 2 1.10', 'amd64 latest/edge 2 1.10']);

  t.same(await sent(() => ada.release('tiny-app', 1, ['candidate', 'edge/fix'])), ['POST /dev/api/snap-release/']);
  await ada.release('tiny-app', 1, ['stable'], 100);
  await ada.release('tiny-app', 2, ['stable'], 30);
  for (const percentage of [-5, 250]) {
    await t.rejects(ada.release('tiny-app', 2, ['stable'], percentage), { message: /^- api-error: .*percentage/ });
  }
  t.same(await ada.status('tiny-app'), [
    'amd64 latest/stable 1 1.10',
    'amd64 latest/stable 2 1.10 30 %',
    'amd64 latest/candidate 1 1.10',
    'amd64 latest/beta 2 1.10',
    'amd64 latest/edge 2 1.10',
    'amd64 latest/edge/fix 1 1.10',
  ]);
  t.same(await sent(() => ada.close('tiny-app', 'beta')), ['GET /dev/api/account', 'POST /dev/api/snaps/ID/close']);
  await t.rejects(ada.close('tiny-app', '9/edge'), { message: /no track '9'/ });

  await t.rejects(ada.promote('tiny-app', 'beta', 'stable'), { message: /does not form a complete set: amd64/ });
  t.same(await sent(() => ada.promote('tiny-app', 'edge', 'stable')), [
    'GET /dev/api/account',
    'GET /dev/api/snaps/ID/state?series=16',
    'POST /dev/api/snap-release/',
  ]);
  await ada.promote('tiny-app', 'latest/edge', 'candidate');
  store.clock.advance(hours(1));
  t.same(await ada.revisions('tiny-app'), [
    '2 amd64 latest/candidate, amd64 latest/edge, amd64 latest/stable',
    '1 amd64 latest/edge/fix',
  ]);
  t.equal(await ada.metrics('tiny-app', 'weekly_device_change'), 'NO DATA');

  await addRevision(store, await id(), 3, { details: { architectures: ['arm64', 'amd64'] } });
  await ada.release('tiny-app', 3, ['edge']);
  t.equal((await sent(() => ada.promote('tiny-app', 'edge', 'beta'))).length, 3);
  t.equal(ada.calls.filter((call) => call.endsWith('snap-release/')).length, 2, 'once an architecture');
  t.match(await ada.status('tiny-app'), [
    'amd64 latest/stable 2 1.10',
    /./,
    'amd64 latest/beta 3 v3',
    'arm64 latest/beta 3 v3',
  ]);

  store.clock.advance(hours(25));
  t.same(
    await sent(() => ada.names()),
    ['GET /dev/api/account', 'POST /api/v2/tokens/refresh'],
    'a discharge of yesterday is renewed, and nobody is asked for a password',
  );
});

t.test('a missing permission of a narrowed login is named, and the login stays valid', async (t) => {
  const store = await startIdentity(t);
  const ada = snapcraft(store.url, 'ada@example.com', password);
  await ada.login();
  for (const name of ['tiny-app', 'other']) await ada.register(name);
  await ada.upload('tiny-app', await snapFixture('app-xz'));

  const narrow = snapcraft(store.url, 'ada@example.com', password);
  await narrow.login({ acls: ['package_release', 'package_access'], channels: ['edge'], packages: ['tiny-app'] });
  await narrow.release('tiny-app', 1, ['edge']);
  const right = { message: /^- permission-required: / };
  await t.rejects(narrow.release('tiny-app', 1, ['edge', 'stable']), right);
  await t.rejects(narrow.close('tiny-app', 'stable'), right);
  await t.rejects(narrow.upload('tiny-app', await snapFixture('app-gzip')), right);
  await t.rejects(narrow.status('other'), right);
  t.same(await narrow.names(), ['tiny-app']);
  t.same(await narrow.status('tiny-app'), ['amd64 latest/edge 1 1.10']);
  await narrow.close('tiny-app', 'edge');
  t.same(await narrow.status('tiny-app'), []);

  const pushes = snapcraft(store.url, 'ada@example.com', password);
  await pushes.login({ acls: ['package_upload'] });
  t.equal(await pushes.upload('tiny-app', await snapFixture('app-gzip')), 2, 'as older exports have it');
  await t.rejects(pushes.upload('tiny-app', await snapFixture('app-zstd'), ['edge']), right);

  await t.rejects(
    ada.request('/dev/api/snaps/x/validations'),
    { message: /^- resource-not-found: / },
    'what is not served is said in a line',
  );
});

t.test('in on-prem mode, names, promote and metrics use this store too', async (t) => {
  const store = await startStore(t);
  const { token } = await store.as('ada');
  const headers = { authorization: `macaroon ${token}` };
  const call = async (path: string, body?: unknown): Promise<Reply['body']> => {
    const { status, body: reply } = await (body === undefined
      ? store.anyone.get(`/publishergw${path}`, headers)
      : store.anyone.post(`/publishergw${path}`, body, headers));
    t.ok(status < 300, `${path}: ${status} ${JSON.stringify(reply)}`);
    return reply;
  };
  await call('/dev/api/register-name/', { snap_name: 'hello', is_private: false, series: '16' });
  const id = (await call('/dev/api/account')).snaps['16'].hello['snap-id'] as string;
  await addRevision(store, id, 1, { details: { architectures: ['amd64'] } });
  await addRevision(store, id, 2, { details: { architectures: ['arm64'] } });
  await call('/v1/snap/hello/releases', [
    { revision: 1, channel: 'edge' },
    { revision: 2, channel: 'edge' },
  ]);
  const { channel_map_tree: tree } = await call(`/dev/api/snaps/${id}/state?series=16`);
  for (const [architecture, entries] of Object.entries(tree.latest['16'] as Record<string, Reply['body'][]>)) {
    const { revision } = entries.find(({ channel }) => channel === 'edge');
    t.equal(revision, architecture === 'amd64' ? 1 : 2);
    await call('/v1/snap/hello/releases', [{ revision, channel: 'beta' }]);
  }
  const map = (await call('/v1/snap/hello/releases'))['channel-map'] as Record<string, string | number>[];
  t.same(
    map.map(({ channel, architecture, revision }) => `${channel} ${architecture} ${revision}`),
    ['latest/beta amd64 1', 'latest/beta arm64 2', 'latest/edge amd64 1', 'latest/edge arm64 2'],
  );
  const filter = { snap_id: id, metric_name: 'weekly_device_change', start: '2026-01-01', end: '2026-02-01' };
  t.match(await call('/dev/api/snaps/metrics', { filters: [filter] }), { metrics: [{ status: 'NO DATA' }] });
});

t.test('a snap is described, sets and schemas are edited and a build is signed, in both modes', async (t) => {
  const roots = join(t.testdir({ 'roots.assert': stream(world.roots.assertions) }), 'roots.assert');
  const store = await startIdentity(t, (text) => text.replace(/^# trusted = .*$/m, `trusted = ["${roots}"]`));
  store.clock.now = world.now;
  const tool = snapcraft(store.url, 'ada@example.com', password);
  await tool.login();
  await tool.register('tiny-app');
  const id = await tool.idOf('tiny-app');
  await tool.upload('tiny-app', await snapFixture('app-xz'));
  const readMetadata = async () => (await (await store.as('ada')).get('/v1/snap/tiny-app')).body.metadata;

  // register-key, and the assertion from the online store.
  const keyId = world.keys.device.id;
  const registering = snapcraft(store.url, 'ada@example.com', password);
  await registering.login({ acls: ['modify_account_key'] });
  const { account_id: accountId } = await registering.account();
  const since = { since: new Date('2026-03-01T12:00:00Z'), revision: 0, signedAt: world.now };
  const key = { signer: world.signer, keyId, accountId: accountId as string, name: 'default', ...since };
  await registering.request('/dev/api/account/account-key', {
    body: { account_key_request: await accountKeyRequest(key) },
  });
  const returned = join(store.directory, 'return.assert');
  const accountKey = await world.accountKey('device', store.ids.ada, 'default', { since: '2026-03-01T12:00:00Z' });
  writeFileSync(returned, stream([world.storeKey, await world.account(store.ids.ada), accountKey]));
  t.match(await larder(`assertion import ${returned} --data ${store.directory}`), { code: 0 });

  /** `snap sign` leaves out the revision 0. */
  const sign = ({ type, revision, body = '', ...headers }: Headers): Promise<string> => {
    const written = revision === undefined || revision === '0' ? headers : { ...headers, revision };
    const statement = { type: type as string, headers: written, body: body as string, signedAt: store.clock.now };
    return signAssertion(world.signer, keyId, statement);
  };
  const { token } = await store.as('ada');
  const modes = {
    'off-prem': { onPrem: false, authorization: tool.authorization },
    'on-prem': { onPrem: true, authorization: () => `macaroon ${token}` },
  };
  for (const [name, mode] of Object.entries(modes)) {
    await t.test(name, async (t) => {
      const ada = snapcraftEdits(store.url, { ...mode, keyId, sign });
      const sent = async (work: () => Promise<unknown>): Promise<string[]> => {
        ada.calls.length = 0;
        await work();
        return ada.calls.map((call) => call.replaceAll(id, 'ID'));
      };
      const acc = 'GET /dev/api/account';
      const dryRun = mode.onPrem ? [] : ['POST /dev/api/snap-push/'];
      t.same(await sent(() => ada.setDefaultTrack('tiny-app', 'latest')), [acc, 'PUT /dev/api/snaps/ID/metadata']);
      t.match(await readMetadata(), { 'default-track': 'latest' });
      await t.rejects(ada.setDefaultTrack('tiny-app', '9'), { message: /'9' is not a track of 'tiny-app'/ });
      await t.rejects(ada.setDefaultTrack('other', '9'), { message: "Snap 'other' was not found." });

      const file = { summary: `Sums up ${name}`, description: 'At length', title: 'Tiny', license: 'MIT' };
      const icon = `<svg xmlns="http://www.w3.org/2000/svg"><!-- ${name} --></svg>`;
      const describes = (method: string): string[] => [
        ...[...dryRun, acc, `${method} /dev/api/snaps/ID/metadata`, acc, 'GET /dev/api/snaps/ID/binary-metadata'],
        `${method} /dev/api/snaps/ID/binary-metadata`,
      ];
      t.same(await sent(() => ada.uploadMetadata('tiny-app', { ...file, icon })), describes('POST'));
      t.match(await readMetadata(), { summary: `Sums up ${name}`, title: 'Tiny', media: [{ type: 'icon' }] });
      t.same(await sent(() => ada.uploadMetadata('tiny-app', { ...file, icon })), describes('POST').slice(0, -1));
      await (await store.as('ada')).patch('/v1/snap/tiny-app', { summary: 'Ours', description: 'Our own' });
      await t.rejects(ada.uploadMetadata('tiny-app', { ...file, icon }), {
        message: [
          'Metadata not uploaded!',
          `Conflict in 'summary' field: Sums up ${name} / Ours`,
          "Conflict in 'description' field: At length / Our own",
        ].join('\n'),
      });
      await t.rejects(ada.uploadMetadata('tiny-app', { summary: 'Ours', description: 'Our own' }), {
        message: /^Metadata not uploaded!\nConflict in 'icon' field: undefined \/ [0-9a-f]{96}\.svg$/,
      });
      t.same(await sent(() => ada.uploadMetadata('tiny-app', file, true)), describes('PUT'));
      t.match(await readMetadata(), { summary: `Sums up ${name}`, media: [] });

      const set = `${name}-set`;
      t.same(await ada.validationSets(set), []);
      const path = `/api/v2/validation-sets`;
      const edits = async (from: number, fields: object): Promise<string> =>
        ada.editValidationSet(store.ids.ada, set, from, () => fields);
      const snaps = [{ name: 'tiny-app', revision: 1 }];
      t.same(
        await sent(async () =>
          t.equal(await edits(0, { sequence: 1, snaps }), `Successfully created sequence 1 revision 0 for '${set}'.`),
        ),
        [`GET ${path}/${set}`, `POST ${path}/build-assertion`, `POST ${path}`],
      );
      t.match(await edits(1, { sequence: 2, snaps }), /sequence 2 revision 0/);
      t.match(await edits(1, { sequence: 2, snaps }), /sequence 2 revision 1/, 'amended');
      await t.rejects(edits(1, { sequence: 3, snaps: [{ name: 'nowhere' }] }), {
        message: /There is no snap 'nowhere' in this store/,
      });
      await t.rejects(edits(2, { sequence: 2, snaps }), { message: /was not incremented/ });
      t.same(await ada.validationSets(set), [`${store.ids.ada} ${set} 2 1 2026-11-20`]);
      t.equal((await ada.validationSets(set, 'all')).length, 2);

      const schema = `${name}-schema`;
      const schemas = '/api/v2/confdb-schemas';
      t.same(
        await sent(async () =>
          t.equal(
            await ada.editConfdbSchema(store.ids.ada, schema, { summary: 'Summary of the confdb-schema' }),
            `Successfully created revision 0 for '${schema}'.`,
          ),
        ),
        [`GET ${schemas}/${schema}`, `POST ${schemas}/build-assertion`, `POST ${schemas}`],
      );
      t.match(await ada.editConfdbSchema(store.ids.ada, schema, { summary: 'Changed' }), /revision 1 for/);
      t.same(await ada.confdbSchemas(schema), [`${store.ids.ada} ${schema} 1 2026-11-20`]);
      t.equal((await ada.confdbSchemas()).length, mode.onPrem ? 2 : 1);
      await t.rejects(ada.editConfdbSchema(store.ids.ada, schema, { body: '{}' }), {
        message: /^- api-error: .*'body' must be a JSON object with the member 'storage'/,
      });

      store.clock.advance(hours(1));
      const file2 = await snapFixture(mode.onPrem ? 'app-gzip' : 'app-xz');
      const revision = mode.onPrem ? await tool.upload('tiny-app', file2) : 1;
      const { sha3_384, size } = (await store.beside.records.revisions.list(id, 9)).find(
        (candidate) => candidate.revision === revision,
      )!;
      const moment = '2026-11-20T12:30:00Z';
      t.same(await sent(() => ada.signBuild('tiny-app', { sha3_384, size }, moment)), [
        acc,
        'POST /dev/api/snaps/ID/builds',
      ]);
      await t.rejects(ada.signBuild('tiny-app', { sha3_384: '0'.repeat(96), size: 1 }, moment), {
        message: /^- api-error: No revision of 'tiny-app' has this digest/,
      });
    });
  }
});
