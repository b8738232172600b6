// An operation and a command on packages are one act: the same rows, the same entry, the same refusal. Two equal
// packages are changed alike, one over HTTP, the other on the host.
import t from 'tap';

import type { Client, Reply, TestAppliance } from '#test/fixtures/appliance.ts';
import { addCollaborator, addRevision } from '#test/fixtures/packages/packages.ts';

import { command, newest, startNow } from '../ways.ts';

const twins = ['one', 'two'] as const;

/**
 * Publishes two snaps, alike except for name and id: three revisions, one of them in two channels, and two
 * collaborators.
 */
async function published(store: TestAppliance): Promise<Record<(typeof twins)[number], string>> {
  const ada = await store.as('ada');
  const ids = { one: '', two: '' };
  for (const name of twins) {
    const { id } = (await ada.post('/v1/snap', { name })).body;
    ids[name] = id as string;
    for (const number of [1, 2, 3]) {
      await addRevision(store, ids[name], number, { version: String(number) });
    }
    for (const collaborator of ['bob', 'carol']) await addCollaborator(store, ids[name], collaborator);
    await command(store, `guardrail add snap/${name} [0-9]+`);
    await ada.post(`/v1/snap/${name}/tracks`, [{ name: '2' }]);
    await ada.post(`/v1/snap/${name}/releases`, [
      { channel: 'stable', revision: 1 },
      { channel: '2/edge', revision: 1 },
    ]);
  }
  return ids;
}

t.test('an act on a package has the same effect over HTTP and on the host', async (t) => {
  const store = await startNow(t);
  await store.join('carol');
  const ids = await published(store);
  const [root, asAda, asBob, asCarol] = await Promise.all(['root', 'ada', 'bob', 'carol'].map((who) => store.as(who)));
  if (root === undefined || asAda === undefined || asBob === undefined || asCarol === undefined) throw new Error('?');
  const { bob, carol = '' } = store.ids;
  const quota = (packages: number, id = carol) => root.post(`/internal/v1/accounts/${id}/quota`, { packages });

  /** The description of one of the twins, without the name of the twin, the actor and the time. */
  const alike = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(ids.one, 'ID')
        .replaceAll(ids.two, 'ID')
        .replaceAll(/snap\/(?:one|two)/g, 'snap/NAME')
        .replaceAll(/(['"])(?:one|two)\1/g, '$1NAME$1')
        .replaceAll(/"(?:cli:[^"]*|root)"/g, '"WHO"')
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'WHEN'),
    ) as unknown;
  const state = async (name: string) => ({
    whole: (await root.get(`/internal/v1/packages/snap/${name}`)).body as unknown,
    offer: await store.beside.records.packageOffers.find(ids[name as 'one'], new Date().toISOString()),
    tracks: await store.beside.records.tracks.list(ids[name as 'one']),
    // In the order of their times, which the still clock of the store and that of a command tell differently.
    guardrails: (
      (await root.get(`/internal/v1/packages/snap/${name}/guardrails`)).body.guardrails as { pattern: string }[]
    )
      .map(({ pattern }) => pattern)
      .sort(),
    kept: (await root.get(`/internal/v1/packages/snap/${name}/revisions`)).body as unknown,
  });
  const at = (name: string) => `/internal/v1/packages/snap/${name}`;
  const offers = (
    client: Client,
    to: string,
  ): readonly [(name: string) => Promise<Reply>, (name: string) => string] => [
    (name) => client.post(`${at(name)}/offer`, { email: `${to}@example.com` }),
    (name) => `package offer snap/${name} ${store.ids[to] ?? ''}`,
  ];
  const answers = (
    client: Client,
    accept: boolean,
  ): readonly [(name: string) => Promise<Reply>, (name: string) => string] => [
    (name) => client.post(`${at(name)}/offer/answer`, { accept }),
    (name) =>
      `package ${accept ? 'accept-offer' : 'reject-offer'} snap/${name} ${client === asBob ? bob : carol}${accept ? ' --yes' : ''}`,
  ];
  const withdraws = [
    (name: string) => asAda.delete(`${at(name)}/offer`),
    (name: string) => `package withdraw-offer snap/${name}`,
  ] as const;

  const ways: readonly (readonly [string, (name: string) => Promise<Reply>, (name: string) => string])[] = [
    [
      'release',
      (name) => root.post(`/v1/snap/${name}/releases`, [{ channel: 'latest/beta', revision: 2 }]),
      (name) => `release snap/${name} 2 beta`,
    ],
    [
      'release what is not there',
      (name) => root.post(`/v1/snap/${name}/releases`, [{ channel: 'latest/beta', revision: 9 }]),
      (name) => `release snap/${name} 9 beta`,
    ],
    [
      'release to no track',
      (name) => root.post(`/v1/snap/${name}/releases`, [{ channel: '7/beta', revision: 1 }]),
      (name) => `release snap/${name} 1 7/beta`,
    ],
    [
      'close',
      (name) => root.post(`/v1/snap/${name}/releases`, [{ channel: 'latest/beta', revision: null }]),
      (name) => `close snap/${name} beta --yes`,
    ],
    [
      'withdraw',
      (name) => root.post(`${at(name)}/revisions/1/withdraw`, { reason: 'It loses data.' }),
      (name) => `revision withdraw snap/${name} 1 --reason 'It loses data.' --yes`,
    ],
    [
      'withdraw what is not there',
      (name) => root.post(`${at(name)}/revisions/9/withdraw`, { reason: 'It loses data.' }),
      (name) => `revision withdraw snap/${name} 9 --reason 'It loses data.' --yes`,
    ],
    [
      'release what is withdrawn',
      (name) => root.post(`/v1/snap/${name}/releases`, [{ channel: 'latest/edge', revision: 1 }]),
      (name) => `release snap/${name} 1 edge`,
    ],
    [
      'bring back',
      (name) => root.post(`${at(name)}/revisions/1/restore`, {}),
      (name) => `revision restore snap/${name} 1`,
    ],
    [
      'change a track',
      (name) => root.patch(`${at(name)}/tracks/2`, { 'automatic-phasing-percentage': 20 }),
      (name) => `track set snap/${name} 2 --phasing 20`,
    ],
    ['delete a track', (name) => root.delete(`${at(name)}/tracks/2`), (name) => `track delete snap/${name} 2 --yes`],
    [
      'delete none',
      (name) => root.delete(`${at(name)}/tracks/nothing`),
      (name) => `track delete snap/${name} nothing --yes`,
    ],
    [
      'add a guardrail',
      (name) => root.post(`${at(name)}/guardrails`, { pattern: 'lts-[0-9]+' }),
      (name) => `guardrail add snap/${name} 'lts-[0-9]+'`,
    ],
    [
      'add what is none',
      (name) => root.post(`${at(name)}/guardrails`, { pattern: '(' }),
      (name) => `guardrail add snap/${name} '('`,
    ],
    [
      'remove a guardrail',
      (name) => root.post(`${at(name)}/guardrails/remove`, { pattern: 'lts-[0-9]+' }),
      (name) => `guardrail remove snap/${name} 'lts-[0-9]+' --yes`,
    ],
    [
      'remove it again',
      (name) => root.post(`${at(name)}/guardrails/remove`, { pattern: 'lts-[0-9]+' }),
      (name) => `guardrail remove snap/${name} 'lts-[0-9]+' --yes`,
    ],
    [
      'grant it to devices',
      (name) => root.post(`${at(name)}/device-grants`, { 'brand-id': 'acme', model: 'pump' }),
      (name) => `device grant snap/${name} --brand acme --model pump`,
    ],
    [
      'grant it to no brand',
      (name) => root.post(`${at(name)}/device-grants`, { 'brand-id': '..' }),
      (name) => `device grant snap/${name} --brand ..`,
    ],
    [
      'take the grant back',
      (name) => root.post(`${at(name)}/device-grants/revoke`, { 'brand-id': 'acme', model: 'pump' }),
      (name) => `device revoke snap/${name} --brand acme --model pump --yes`,
    ],
    [
      'take it back again',
      (name) => root.post(`${at(name)}/device-grants/revoke`, { 'brand-id': 'acme', model: 'pump' }),
      (name) => `device revoke snap/${name} --brand acme --model pump --yes`,
    ],
    [
      'take a collaborator away',
      (name) => root.delete(`${at(name)}/collaborators/${bob}`),
      (name) => `collaborator remove snap/${name} ${bob} --yes`,
    ],
    [
      'take him away again',
      (name) => root.delete(`${at(name)}/collaborators/${bob}`),
      (name) => `collaborator remove snap/${name} ${bob} --yes`,
    ],
    [
      'leave',
      (name) => asCarol.delete(`${at(name)}/collaboration`),
      (name) => `package leave snap/${name} ${carol} --yes`,
    ],
    ['offer', ...offers(asAda, 'bob')],
    ['offer to whose it is', ...offers(asAda, 'ada')],
    ['take what is offered to somebody else', ...answers(asCarol, true)],
    ['leave what is offered to somebody else', ...answers(asCarol, false)],
    ['offer to another one', ...offers(asAda, 'carol')],
    ['withdraw the offer', ...withdraws],
    ['withdraw it again', ...withdraws],
    ['offer again', ...offers(asAda, 'bob')],
    ['leave it', ...answers(asBob, false)],
    ['leave it again', ...answers(asBob, false)],
    ['offer what was left', ...offers(asAda, 'carol')],
    ['take more than one may', ...answers(asCarol, true)],
    ['take it', ...answers(asCarol, true)],
    ['take it again', ...answers(asCarol, true)],
    [
      'hand over to who may have none',
      (name) => root.post(`${at(name)}/publisher`, { 'account-id': bob }),
      (name) => `package hand-over snap/${name} ${bob} --yes`,
    ],
    [
      'hand over',
      (name) => root.post(`${at(name)}/publisher`, { 'account-id': bob }),
      (name) => `package hand-over snap/${name} ${bob} --yes`,
    ],
    [
      'hand over again',
      (name) => root.post(`${at(name)}/publisher`, { 'account-id': bob }),
      (name) => `package hand-over snap/${name} ${bob} --yes`,
    ],
  ];
  const beforehand: Record<string, () => Promise<Reply>> = {
    'take more than one may': () => quota(0),
    'take it': () => quota(2),
    'hand over to who may have none': () => quota(0, bob),
    'hand over': () => quota(2, bob),
  };
  for (const [name, byOperation, byCommand] of ways) {
    await beforehand[name]?.();
    const seq = (await store.beside.records.audit.head())?.seq;
    const { status, body } = await byOperation('one');
    const entries = ((await store.beside.records.audit.head())?.seq ?? 0) - (seq ?? 0);
    const expected = { entry: alike(await newest(store)), state: alike(await state('one')) };
    const answered = await command(store, byCommand('two'));
    const two = { entry: alike(await newest(store)), state: alike(await state('two')) };
    t.same(two, expected, name);
    const refusal = (body as { 'error-list'?: { code: string; message: string }[] })['error-list']?.[0];
    if (refusal === undefined) {
      t.match(answered, { error: undefined }, name);
      t.equal(entries, 1, `${name}: one act, one entry`);
      continue;
    }
    t.ok(status >= 400 && entries === 0, `${name}: nothing in the audit log`);
    t.same(alike(answered['error']), alike(refusal.message), `${name}: ${refusal.message}`);
  }
});

t.test('and to an account', async (t) => {
  const store = await startNow(t);
  const root = await store.as('root');
  const { ada, bob } = store.ids;
  const alike = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(ada, 'ID')
        .replaceAll(bob, 'ID')
        .replaceAll(/ada|bob/gi, 'NAME')
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'WHEN'),
    ) as unknown;
  const state = async (id: string) => [
    await store.beside.records.accounts.find(id),
    (await root.get(`/internal/v1/accounts/${id}/quota`)).body as unknown,
  ];
  const at = `/internal/v1/accounts/${ada}`;
  for (const [name, byOperation, byCommand] of [
    [
      'quota',
      () => root.post(`${at}/quota`, { bytes: 1024, packages: 3 }),
      `account quota ${bob} --bytes 1024 --packages 3`,
    ],
    ['display name', () => root.patch(at, { 'display-name': 'New' }), `account change ${bob} --display-name New`],
    ['validation', () => root.patch(at, { validation: 'verified' }), `account change ${bob} --validation verified`],
    [
      'a taken e-mail',
      () => root.patch(at, { email: 'root@example.com' }),
      `account change ${bob} --email root@example.com`,
    ],
  ] as const) {
    const { body } = await byOperation();
    const expected = alike([await newest(store), await state(ada)]);
    const answered = await command(store, byCommand);
    t.same(alike([await newest(store), await state(bob)]), expected, name);
    const refusal = (body as { 'error-list'?: { code: string; message: string }[] })['error-list']?.[0];
    if (refusal !== undefined) t.equal(answered['error'], refusal.message, name);
  }
});
