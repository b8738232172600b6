// Groups of the OpenID provider give roles. A role is in force while the provider confirms the account, for at most one hour.
import t from 'tap';

import { listApprovers } from '#acts/approvals/counted-approvals.ts';
import { confirmOpenidLogins } from '#jobs/accounts/confirm-openid-logins.ts';
import { buildOpenid } from '#appliance/openid.ts';
import { readConfig } from '#configuration/config.ts';
import { minutes } from '#domain/clock.ts';
import { commandsOn } from '#test/cli/process.ts';
import { addBrand } from '#test/fixtures/brands.ts';
import { person, startOpenidStore, type OpenidStore } from './world.ts';

const roles =
  'accounts = "create"\n[identity.oidc.roles]\nofficers = ["transfer-approver", "auditor"]\nadmins = ["store-admin"]\n' +
  `acme = ["brand-admin:${'A'.repeat(32)}"]\n"Revision, internal" = ["auditor"]\n`;

const rolesOf = async ({ beside: { records } }: OpenidStore, username: string): Promise<string[]> => {
  const account = await records.accounts.findByName(username);
  return account === undefined ? [] : records.accounts.rolesOf(account.id);
};

/** One run of the job, as the serving process would do it. */
async function runJob({ beside: store, directory }: OpenidStore): Promise<Record<string, unknown>> {
  const settings = { config: readConfig(`${directory}/larder.toml`) };
  const openid = buildOpenid({ store, health: { watch: () => undefined } } as never, () => settings as never);
  return confirmOpenidLogins({ ...store, renew: openid.confirmations.renew }).run();
}

t.test('a group gives its roles at each login and takes them away, and local roles stay local', async (t) => {
  const store = await startOpenidStore(t, roles);
  const { larder, json } = commandsOn(store.directory);
  await store.logIn(person('carol', { groups: ['officers', 'Revision, internal', 'others'] }));
  t.strictSame((await rolesOf(store, 'carol')).sort(), ['auditor', 'transfer-approver']);
  const { id } = (await store.beside.records.accounts.findByName('carol'))!;
  t.match(
    (await larder(`account show ${id}`)).out,
    /auditor \(from the group officers\).*transfer-approver \(from the group officers\)/,
  );
  t.match(await json(`account show ${id}`), {
    'group-roles': [
      { role: 'auditor', group: 'officers' },
      { role: 'transfer-approver', group: 'officers' },
    ],
    openid: { subject: 'subject of carol' },
  });
  for (const line of [`account role ${id} auditor --remove --yes`, `account role ${id} auditor`]) {
    const refused = await larder(line);
    t.match(refused, {
      code: 1,
      err: /has the role auditor because of the group 'officers'\. Change the members of the group/,
    });
  }
  const root = await store.as('root');
  const { body } = await root.get('/internal/v1/accounts');
  t.match(
    body.accounts.find((each: { id: string }) => each.id === id),
    { 'group-roles': [{ role: 'auditor' }, {}] },
  );
  const page = await (await store.visit('root')).open(`/console/people/${id}`);
  t.match(
    page.text,
    /auditor Reads the audit log and the list of exports\. From the group officers of the OpenID provider; changed there/,
  );

  await store.logIn(person('carol', { groups: 'Revision, internal' }));
  t.strictSame(await rolesOf(store, 'carol'), ['auditor'], 'one group as a text');
  store.issuer.lies = { userinfo: { sub: 'subject of carol' } };
  await store.logIn(person('carol', { groups: undefined }));
  t.strictSame(await rolesOf(store, 'carol'), []);
  const rows = await store.beside.records.audit.newest(Number.MAX_SAFE_INTEGER, 100);
  t.strictSame(
    rows
      .filter(({ action }) => action === 'change_group_roles')
      .map(({ details }) => details)
      .reverse(),
    [
      { added: ['transfer-approver (officers)', 'auditor (officers)'], removed: [], restored: [] },
      { added: [], removed: ['transfer-approver (officers)'], restored: ['auditor (Revision, internal)'] },
      { added: [], removed: ['auditor (Revision, internal)'], restored: [] },
    ].map((details) => JSON.stringify(details)),
  );

  t.equal((await larder(`account role ${id} auditor`)).code, 0);
  await store.logIn(person('carol', { groups: ['officers'] }));
  await store.logIn(person('carol'));
  t.strictSame(await rolesOf(store, 'carol'), ['auditor'], 'the local role is no role of the group');
});

t.test('a role of a brand needs the brand, and 10,000 groups cost only the login', async (t) => {
  const store = await startOpenidStore(t, roles);
  const groups = Array.from({ length: 10_000 }, (_, at) => `group-${String(at)}-of-the-site`);
  t.equal((await store.logIn(person('carol', { groups: [...groups, 'acme'] }))).page.status, 200);
  t.strictSame(await rolesOf(store, 'carol'), []);
  await addBrand(store, 'ada');
  await store.logIn(person('carol', { groups: [...groups, 'acme'] }));
  t.strictSame(await rolesOf(store, 'carol'), [`brand-admin:${store.ids.ada}`]);
});

t.test('an approver from a group waits 72 hours as any other, and once', async (t) => {
  const store = await startOpenidStore(t, roles);
  const { records } = store.beside;
  const approvers = () => listApprovers(records, { of: null, count: 1 } as never, store.clock.now.toISOString());
  await store.logIn(person('carol', { groups: ['officers'] }));
  t.match(await approvers(), [{ username: 'carol', countsFrom: '2026-03-04T12:00:00.000Z' }]);
  store.clock.advance(minutes(73 * 60));
  t.match(await runJob(store), { suspended: 1 });
  t.strictSame(await approvers(), [], 'not confirmed for an hour');
  await store.logIn(person('carol', { groups: ['officers'] }));
  t.match(await approvers(), [{ username: 'carol', countsFrom: undefined }], 'the same role is no change');
  await store.logIn(person('carol'));
  await store.logIn(person('carol', { groups: ['officers'] }));
  t.match(await approvers(), [{ countsFrom: '2026-03-07T13:00:00.000Z' }], 'a role that was lost is new');
});

t.test('the provider confirms a login every 15 minutes, and roles and sessions end with its word', async (t) => {
  const store = await startOpenidStore(t, roles);
  const { issuer } = store;
  issuer.issuesRefreshTokens = true;
  const { browser } = await store.logIn(person('carol', { groups: ['officers', 'admins'] }));
  t.strictSame((await rolesOf(store, 'carol')).sort(), ['auditor', 'store-admin', 'transfer-approver']);
  t.strictSame(await runJob(store), {}, 'nothing is due');
  const answer = (claims: ReturnType<typeof person> | undefined) => {
    for (const token of issuer.refreshed.keys()) issuer.refreshed.set(token, claims);
  };
  store.clock.advance(minutes(16));
  answer(person('carol', { groups: ['officers'] }));
  t.strictSame(await runJob(store), { confirmed: 1 });
  t.strictSame((await rolesOf(store, 'carol')).sort(), ['auditor', 'transfer-approver'], 'a role that was lost');
  await browser.open('/console');

  await issuer.setAway(true);
  for (const minute of [20, 20]) {
    store.clock.advance(minutes(minute));
    t.strictSame(await runJob(store), { unavailable: 1 });
    t.equal((await browser.open('/console')).status, 200, 'the session goes on');
  }
  t.equal((await rolesOf(store, 'carol')).length, 2, 'for less than an hour');
  store.clock.advance(minutes(20));
  t.strictSame(await runJob(store), { unavailable: 1, suspended: 1 });
  t.strictSame(await rolesOf(store, 'carol'), []);
  t.equal((await browser.open('/console')).status, 200);
  t.equal((await (await store.visit('root')).open('/console/people')).status, 200, 'the local administrator');
  await issuer.setAway(false);
  t.strictSame(await runJob(store), { confirmed: 1 });
  t.strictSame((await rolesOf(store, 'carol')).sort(), ['auditor', 'transfer-approver'], 'the provider is back');

  store.clock.advance(minutes(16));
  issuer.lies = { claims: (claims) => ({ ...claims, sub: 'another' }) };
  t.strictSame(await runJob(store), { unreadable: 1 }, 'a confirmation of another person');
  issuer.lies = {};
  await browser.open('/console');
  answer(undefined);
  t.strictSame(await runJob(store), { ended: 1 });
  t.strictSame(await rolesOf(store, 'carol'), []);
  t.equal((await browser.open('/console')).status, 401, 'the session has ended');
  t.strictSame(await runJob(store), {});
});

t.test('without a refresh token a session ends after an hour', async (t) => {
  const store = await startOpenidStore(t);
  const { browser } = await store.logIn(person('carol'));
  for (const pause of [29, 29]) {
    store.clock.advance(minutes(pause));
    t.equal((await browser.open('/console')).status, 200);
  }
  store.clock.advance(minutes(3));
  t.equal((await browser.open('/console')).status, 401);
});

t.test('a group cannot leave the store without a local administrator', async (t) => {
  const store = await startOpenidStore(t, roles);
  const { larder } = commandsOn(store.directory);
  await store.logIn(person('carol', { groups: ['admins'] }));
  t.match(await larder('account role root store-admin --remove --yes'), { code: 1, err: /only store administrator/ });
  t.match(await larder('account disable root --yes'), { code: 1, err: /only store administrator/ });
  const { id } = (await store.beside.records.accounts.findByName('carol'))!;
  t.equal((await larder(`account unlink ${id}`)).code, 0);
  t.strictSame(await rolesOf(store, 'carol'), []);
});
