// Any administrator who changes an account could act as that account. So for 72 hours after an act that changes an
// account, its roles or its credentials, the approvals of that account do not count.
import t from 'tap';

import { changeRole, createAccount, disableAccount, enableAccount } from '#acts/accounts/accounts.ts';
import { updateAccount } from '#acts/accounts/details.ts';
import { itself, type Act, type Actor } from '#acts/act.ts';
import { registerAgent } from '#acts/accounts/agents.ts';
import { changeGroupRoles } from '#acts/accounts/group-roles.ts';
import { addOpenidIdentity, removeOpenidIdentity } from '#acts/accounts/openid-identities.ts';
import { addApproverKey, removeApproverKey } from '#acts/approvals/approver-keys.ts';
import {
  changeCredential,
  changeOwnPassword,
  inviteAccount,
  renewRecoveryCodes,
  setOwnPassword,
  setPassword,
  setTotpSecret,
  switchOffTotp,
  switchOnTotp,
} from '#acts/accounts/credentials.ts';
import { everyAct } from '#acts/index.ts';
import { approveProposal, changeApprovalPolicy } from '#acts/approvals/proposals.ts';
import { rotateToken, issueToken } from '#acts/tokens/tokens.ts';
import { noPolicy, readReleaseRule } from '#domain/approvals/approval-policy.ts';
import { days, hours } from '#domain/clock.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

const issuer = 'https://login.internal';
const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f';

/** ada publishes snap/hello; bob has the role and approves releases to stable. */
async function guarded(t: Parameters<typeof startStore>[0]) {
  const store = await startStore(t);
  const { ids, beside: writableStore, clock } = store;
  const { acts, records } = writableStore;
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  await addRevision(store, id, 1);
  await acts.do(changeRole, itself, { id: ids.bob, role: 'transfer-approver', remove: false });
  const policy = { ...noPolicy, releases: [readReleaseRule('1 for snap/*:*/stable')!] };
  await acts.do(changeApprovalPolicy, itself, policy);
  const change = (work: Parameters<typeof records.change>[1]) =>
    records.change({ at: at(), actor: 'test', action: 'test', object: 'bob' }, work);
  const at = (): string => clock.now.toISOString();
  /** Makes bob an approver with a quiet account again, after the act before. */
  const restore = async (): Promise<void> => {
    await change(async (tx) => {
      await tx.accounts.enable(ids.bob);
      await tx.accounts.assign(ids.bob, 'transfer-approver', at());
      await tx.accounts.endStoreAdministrator(ids.bob);
      await tx.totpSecrets.set(ids.bob, 'sealed', at());
      await tx.passwords.set(ids.bob, 'hash', at());
      await tx.accounts.touch(ids.bob, {
        at: new Date(clock.now.getTime() - hours(73)).toISOString(),
        by: 'x',
        what: 'x',
      });
    });
  };
  /** The number of the proposal that waits for bob. */
  const proposal = async (): Promise<number> => {
    const { body } = await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 1 }]);
    const message = (body as { 'error-list'?: { message: string }[] })['error-list']?.[0]?.message ?? '';
    return Number(/proposal (\d+)/.exec(message)?.[1]);
  };
  const approve = async (): Promise<{ fell: boolean }> => {
    const login = { accountId: ids.bob, at: at() };
    return acts.do(approveProposal, { actor: ids.bob }, { number: await proposal(), login });
  };
  return { store, at, change, restore, approve };
}

type World = Awaited<ReturnType<typeof guarded>>;

/** How an act changes the account of bob. `by` is first an administrator, then bob. */
type Doing = (world: World, by: Actor, bob: string) => Promise<unknown>;

const session = (bob: string, at: string) => ({
  sessionId: crypto.randomUUID(),
  accountId: bob,
  rootKeyId: 'none',
  description: null,
  validSince: at,
  validUntil: new Date(new Date(at).getTime() + days(1)).toISOString(),
  conditions: '{}',
});

async function rotated(
  { store: { beside: writableStore }, at, change }: World,
  actor: Actor,
  bob: string,
): Promise<void> {
  const rootKeyId = (await writableStore.rootKeys.current()).id;
  const [old, session_] = [
    { ...session(bob, at()), rootKeyId },
    { ...session(bob, at()), rootKeyId },
  ];
  await change((tx) => tx.macaroons.add(old));
  const moment = at();
  await writableStore.acts.do(rotateToken, actor, {
    sessionId: old.sessionId,
    session: session_,
    moment,
    endsAt: moment,
  });
}

/** Acts that change an account. With `onlyByOthers` the account itself may do it, and nothing new is proven by that. */
const changing: Record<string, { act: Act<never, unknown>; doing: Doing; onlyByOthers?: true; notForOneself?: true }> =
  {
    'a role is given': {
      act: changeRole,
      doing: ({ store }, actor, id) => store.beside.acts.do(changeRole, actor, { id, role: 'auditor', remove: false }),
    },
    'store-admin is taken away again': {
      act: changeRole,
      doing: async ({ store, change, at }, actor, id) => {
        await change((tx) => tx.accounts.makeStoreAdministrator(id, at()));
        await store.beside.acts.do(changeRole, actor, { id, role: 'store-admin', remove: true });
      },
    },
    'it is enabled': {
      act: enableAccount,
      doing: ({ store }, actor, id) => store.beside.acts.do(enableAccount, actor, { id }),
    },
    'its name or address is changed': {
      act: updateAccount,
      doing: ({ store }, actor, id) => store.beside.acts.do(updateAccount, actor, { id, email: 'bobby@example.com' }),
    },
    'its password is set': {
      act: setPassword,
      doing: ({ store }, actor, id) => store.beside.acts.do(setPassword, actor, { id, hash: 'h', endTokensAt: null }),
    },
    'a set-up link is made': {
      act: inviteAccount,
      notForOneself: true,
      doing: ({ store }, actor, id) =>
        store.beside.acts.do(inviteAccount, actor, { id, digest: 'd', until: '2027-01-01T00:00:00.000Z' }),
    },
    'its password is set with a link': {
      act: setOwnPassword,
      doing: async ({ store, change }, actor, id) => {
        await change((tx) => tx.setUpLinks.set(id, 'l', '2027-01-01T00:00:00.000Z'));
        await store.beside.acts.do(setOwnPassword, actor, { id, digest: 'l', hash: 'h', endTokens: false });
      },
    },
    'its password is changed': {
      act: changeOwnPassword,
      doing: async ({ store }, actor, id) => {
        const provenAt = (await store.beside.records.passwords.find(id))?.changedAt ?? '';
        await store.beside.acts.do(changeOwnPassword, actor, { id, provenAt, hash: 'h', endTokensAt: null });
      },
    },
    'its one-time password is set': {
      act: setTotpSecret,
      doing: ({ store }, actor, id) => store.beside.acts.do(setTotpSecret, actor, { id, secret: 's', replace: true }),
    },
    'its one-time password is removed and set again': {
      act: setTotpSecret,
      doing: async ({ store, change, at }, actor, id) => {
        await store.beside.acts.do(setTotpSecret, actor, { id, secret: null, replace: false });
        await change((tx) => tx.totpSecrets.set(id, 'sealed', at()));
      },
    },
    'its one-time password is switched on': {
      act: switchOnTotp,
      doing: async ({ store, change }, actor, id) => {
        await change((tx) => tx.totpSecrets.remove(id));
        await store.beside.acts.do(switchOnTotp, actor, { id, secret: 's', step: 1, recovery: [] });
      },
    },
    'its one-time password is switched off': {
      act: switchOffTotp,
      doing: async ({ store, change, at }, actor, id) => {
        await store.beside.acts.do(switchOffTotp, actor, { id });
        await change((tx) => tx.totpSecrets.set(id, 'sealed', at()));
      },
    },
    'its recovery codes are renewed': {
      act: renewRecoveryCodes,
      doing: ({ store }, actor, id) => store.beside.acts.do(renewRecoveryCodes, actor, { id, recovery: [] }),
    },
    'a key to sign with is registered': {
      act: addApproverKey,
      doing: async ({ store, change }, actor, id) => {
        await change((tx) => tx.approverKeys.remove({ key, accountId: id }));
        await change((tx) => tx.approvalPolicy.set(noPolicy, '2026-01-01T00:00:00.000Z'));
        await store.beside.acts.do(addApproverKey, actor, { id, key });
        const releases = [readReleaseRule('1 for snap/*:*/stable')!];
        await change((tx) => tx.approvalPolicy.set({ ...noPolicy, releases }, '2026-01-01T00:00:00.000Z'));
      },
    },
    'a key to sign with is removed': {
      act: removeApproverKey,
      doing: async ({ store, change, at }, actor, id) => {
        await change(async (tx) => {
          await tx.approverKeys.remove({ key, accountId: id });
          await tx.approverKeys.add({ key, accountId: id, addedAt: at(), addedBy: 'test' });
        });
        await store.beside.acts.do(removeApproverKey, actor, { id, key });
      },
    },
    'a credential of an administrator is made for it': {
      act: changeCredential,
      doing: async ({ store, change, at }, actor, id) => {
        await change((tx) => tx.accounts.makeStoreAdministrator(id, at()));
        await store.beside.acts.do(changeCredential, actor, { id, digest: 'd', added: true });
        await change((tx) => tx.accounts.endStoreAdministrator(id));
      },
    },
    'an agent is registered for it': {
      act: registerAgent,
      doing: ({ store }, actor, id) => {
        const username = `agent-${crypto.randomUUID()}`;
        return store.beside.acts.do(registerAgent, actor, { username, accountId: id, publicKey: 'k' });
      },
    },
    'a token is issued for it': {
      act: issueToken,
      onlyByOthers: true,
      doing: async ({ store, at }, actor, id) => {
        const rootKeyId = (await store.beside.rootKeys.current()).id;
        await store.beside.acts.do(issueToken, actor, { session: { ...session(id, at()), rootKeyId } });
      },
    },
    'a person of the OpenID provider can log in as it': {
      act: addOpenidIdentity,
      doing: async ({ store, change }, actor, id) => {
        await change((tx) => tx.openidIdentities.remove(id));
        await store.beside.acts.do(addOpenidIdentity, actor, { id, issuer, subject: crypto.randomUUID() });
      },
    },
    'a person of the OpenID provider can no longer log in as it': {
      act: removeOpenidIdentity,
      doing: async ({ store, change, at }, actor, id) => {
        const subject = crypto.randomUUID();
        await change((tx) => tx.openidIdentities.add({ accountId: id, issuer, subject, linkedAt: at() }));
        await store.beside.acts.do(removeOpenidIdentity, actor, { id });
      },
    },
    'a group of the OpenID provider gives it a role': {
      act: changeGroupRoles,
      doing: async ({ store, change }, actor, id) => {
        await change(async (tx) => {
          await tx.groupRoles.remove(id, 'auditor');
          await tx.accounts.unassign(id, 'auditor');
        });
        await store.beside.acts.do(changeGroupRoles, actor, { id, roles: [{ role: 'auditor', group: 'auditors' }] });
      },
    },
    'a token is issued in the place of another one': { act: rotateToken, onlyByOthers: true, doing: rotated },
  };

/** Other acts on accounts, agents and sessions, and why an approval counts after them. */
const others: Record<string, string> = {
  create_account: 'tested below',
  create_openid_account: 'a new account, as with create_account',
  accept_openid_login: 'a login; an approval also needs the password',
  expire_group_roles: 'meanwhile the account lacks the role, which approvals need',
  end_openid_sessions: 'it only takes access away',
  accept_certificate_login: 'a login; an approval also needs the password',
  end_certificate_session: 'it only takes access away',
  disable_account: 'a disabled account approves of nothing, and it counts as changed when it is enabled',
  update_own_account: 'it changes the display name alone',
  rehash_password: 'the password stays the same',
  log_in: 'it changes nothing',
  remove_agent: 'it only takes access away',
  create_store: 'it makes the first accounts of a store, before anybody could misuse them',
  set_quota: 'it bounds uploads',
  store_key_request: 'its key signs packages, not approvals',
  exchange_macaroons: 'a login with the password of the account',
  exchange_admin_credential: 'a login with the credential of the administrator; an approval also needs the password',
  begin_browser_session: 'a login with the password of the account',
  expire_browser_session: 'it only takes access away',
  revoke_macaroon: 'it only takes access away',
  revoke_token: 'it only takes access away',
  end_tokens: 'approvals from before it do not count, and those after it need a new login',
};

t.test('every act on an account either suspends its approvals, or states why not', (t) => {
  const isAbout = ({ on }: Act<never, unknown>): boolean => /^(account|agent|session)\//.test(on);
  const listed = new Set([...Object.values(changing).map(({ act }) => act.name), ...Object.keys(others)]);
  const missing = everyAct.filter((act) => isAbout(act) && !listed.has(act.name)).map(({ name }) => name);
  t.strictSame(missing, [], 'an act on accounts is missing from the lists of this file');
  const names = new Set(everyAct.map(({ name }) => name));
  t.strictSame(
    [...listed].filter((name) => !names.has(name)),
    [],
    'and none is listed that is gone',
  );
  t.end();
});

t.test('an approval counts from an account that was left in peace for 72 hours', async (t) => {
  const world = await guarded(t);
  const { store, restore, approve } = world;
  await restore();
  t.strictSame(await approve(), { fell: false });
  await restore();
  await changing['a role is given']!.doing(world, { actor: store.ids.root }, store.ids.bob);
  await t.rejects(approve(), { code: 'forbidden', message: /Your approvals count from/ });
});

for (const [name, { doing, onlyByOthers, notForOneself }] of Object.entries(changing)) {
  t.test(`an account's approvals do not count for 72 hours after ${name}`, async (t) => {
    const world = await guarded(t);
    const { store, restore, approve } = world;
    const { bob } = store.ids;
    for (const actor of [store.ids.root, 'cli:root', bob]) {
      await restore();
      if (actor === bob && notForOneself === true) {
        await t.rejects(doing(world, { actor }, bob), { code: 'forbidden' });
        continue;
      }
      await doing(world, { actor }, bob);
      if (actor === bob && onlyByOthers === true) {
        t.strictSame(await approve(), { fell: false }, 'its own token counts as nothing new');
        continue;
      }
      await t.rejects(approve(), { code: 'forbidden', message: /Your approvals count from/ }, `by ${actor}`);
      store.clock.advance(hours(71));
      await t.rejects(approve(), { message: /Your approvals count from/ }, `by ${actor}, 71 hours later`);
      store.clock.advance(hours(1));
      await approve().then(
        () => t.pass('and counts after 72 hours'),
        (error: unknown) => t.match(error, { message: /already/ }),
      );
      store.clock.advance(days(8));
    }
  });
}

t.test('one administrator cannot make an approver that counts at once', async (t) => {
  const { store, change, approve } = await guarded(t);
  const { acts } = store.beside;
  const mallory = 'M'.repeat(32);
  const root = { actor: store.ids.root };
  const own = { actor: mallory };
  const account = { id: mallory, username: 'mallory', displayName: 'Mallory', email: 'm@example.com' };
  await acts.do(createAccount, root, { ...account, idMadeHere: true });
  for (const role of ['transfer-approver', 'store-admin'] as const) {
    await acts.do(changeRole, root, { id: mallory, role, remove: false });
  }
  await acts.do(switchOnTotp, own, { id: mallory, secret: 's', step: 1, recovery: [] });
  await acts.do(changeRole, own, { id: mallory, role: 'store-admin', remove: true });
  const ada = await store.as('ada');
  const refused = await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 1 }]);
  t.match(refused.body['error-list'][0].message, /Not yet: .*mallory \(from /);
  const login = { accountId: mallory, at: store.clock.now.toISOString() };
  await t.rejects(acts.do(approveProposal, own, { number: 1, login }), { message: /Your approvals count from/ });

  // The same for an administrator who takes the role themself and gives up the other one.
  await acts.do(changeRole, itself, { id: store.ids.bob, role: 'store-admin', remove: false });
  await change((tx) => tx.totpSecrets.set(store.ids.root, 'sealed', store.clock.now.toISOString()));
  await acts.do(changeRole, root, { id: store.ids.root, role: 'transfer-approver', remove: false });
  await acts.do(changeRole, root, { id: store.ids.root, role: 'store-admin', remove: true });
  const roots = { accountId: store.ids.root, at: store.clock.now.toISOString() };
  await t.rejects(acts.do(approveProposal, root, { number: 1, login: roots }), {
    message: /Your account was changed by you \(change_role\)/,
  });
  await t.rejects(approve(), 'nor bob, who was just given store-admin');
});

t.test('a disabled account approves nothing, nor does a foreign account that becomes a local one', async (t) => {
  const { store, restore, approve, at, change } = await guarded(t);
  const { acts } = store.beside;
  const { bob } = store.ids;
  await restore();
  await acts.do(disableAccount, itself, { id: bob, moment: at(), endTokens: false });
  await t.rejects(approve(), { code: 'forbidden', message: /does not ask you/ });
  const foreign = { id: 'F'.repeat(32), username: 'fred', displayName: 'Fred', email: 'fred@example.com' };
  await change((tx) => tx.accounts.addForeign({ ...foreign, validation: 'unproven', createdAt: at() }));
  await acts.do(createAccount, itself, { ...foreign, idMadeHere: false });
  t.match(await store.beside.records.accounts.touched(foreign.id), { what: 'create_account' });
});

t.test('only the link that init made keeps the approvals, and no link that takes its place', async (t) => {
  const { store, restore, approve, change } = await guarded(t);
  const { acts } = store.beside;
  const { bob, root } = store.ids;
  const later = '2027-01-01T00:00:00.000Z';
  await restore();
  await change((tx) => tx.setUpLinks.set(bob, 'of init', later, { fromInit: true }));
  await acts.do(setOwnPassword, { actor: bob }, { id: bob, digest: 'of init', hash: 'h', endTokens: false });
  t.strictSame(await approve(), { fell: false }, 'the link of init');

  store.clock.advance(days(8));
  await restore();
  await change((tx) => tx.setUpLinks.set(bob, 'of init', later, { fromInit: true }));
  await acts.do(inviteAccount, { actor: root }, { id: bob, digest: 'of root', until: later });
  store.clock.advance(hours(73));
  await acts.do(setOwnPassword, { actor: bob }, { id: bob, digest: 'of root', hash: 'h', endTokens: false });
  await t.rejects(approve(), { message: /was changed by a link \(set_password\).* Your approvals count from/ });
});
