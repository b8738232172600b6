// An approval counts if its approver is trusted when the act is done. Each source of that trust is changed before the approval,
// between the approval and the act, and after the act; the newer state counts.
import t from 'tap';

import { changeRole } from '#acts/accounts/accounts.ts';
import { itself } from '#acts/act.ts';
import { approverChecks } from '#acts/approvals/counted-approvals.ts';
import { approveProposal, changeApprovalPolicy } from '#acts/approvals/proposals.ts';
import { endTokens } from '#acts/tokens/tokens.ts';
import { noPolicy, readReleaseRule } from '#domain/approvals/approval-policy.ts';
import { hours, seconds } from '#domain/clock.ts';
import type { ChangeRecords } from '#records/index.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

const keys = { bob: 'ssh-ed25519 AAAAB', carol: 'ssh-ed25519 AAAAC', dave: 'ssh-ed25519 AAAAD' };
const roles = '2 for snap/*:*/stable';

/** ada publishes snap/hello; bob, carol and dave have the role, two of them approve releases to stable. */
async function guarded(t: Parameters<typeof startStore>[0], rule: string) {
  const store = await startStore(t);
  for (const username of ['carol', 'dave']) await store.join(username);
  const { acts, records } = store.beside;
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const number of [1, 2]) await addRevision(store, id, number);
  const idOf = (who: string): string => store.ids[who] ?? '';
  const at = (): string => store.clock.now.toISOString();
  /** Changes the records themselves, so that each check is alone in noticing it. */
  const change = (work: (tx: ChangeRecords) => Promise<unknown>) =>
    records.change({ at: at(), actor: 'test', action: 'test', object: 'bob' }, work);
  const put = (text: string) => {
    const ruleText = text.replaceAll(/\b(bob|carol|dave)\b/g, (who) => idOf(who));
    return acts.do(changeApprovalPolicy, itself, { ...noPolicy, releases: [readReleaseRule(ruleText)!] });
  };
  await change(async (tx) => {
    await tx.appliance.set('site-name', 'site-b');
    for (const who of ['bob', 'carol', 'dave'] as const) {
      await tx.approverKeys.add({ key: keys[who], accountId: idOf(who), addedAt: at(), addedBy: 'test' });
    }
  });
  for (const who of ['bob', 'carol', 'dave']) {
    await acts.do(changeRole, itself, { id: idOf(who), role: 'transfer-approver', remove: false });
    await change((tx) => tx.totpSecrets.set(idOf(who), 'sealed', at()));
  }
  await put(rule);
  store.clock.advance(hours(73));
  const release = async (revision: number): Promise<string> => {
    const { status, body } = await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision }]);
    return status === 200
      ? 'done'
      : ((body as { 'error-list': { message: string }[] })['error-list'][0]?.message ?? '');
  };
  const isSigned = rule.includes('signed');
  const approve = async (who: 'bob' | 'carol' | 'dave', number: number): Promise<unknown> => {
    store.clock.advance(seconds(1));
    // ssh-keygen is not available here; the act records the text to sign.
    if (isSigned) {
      const approval = { number, accountId: idOf(who), at: at(), key: keys[who], signature: 'signature' };
      return change((tx) => tx.proposals.approve(approval));
    }
    return acts.do(approveProposal, { actor: idOf(who) }, { number, login: { accountId: idOf(who), at: at() } });
  };
  return { store, change, put, idOf, at, release, approve };
}

type World = Awaited<ReturnType<typeof guarded>>;

interface Source {
  /** The policy; the role asks unless it is given. */
  rule?: string;
  /** Takes the trust in bob away, by this source alone. */
  lose(world: World): Promise<unknown>;
  /** The message to bob after a later approval; undefined if the approval counts. */
  refuses?: RegExp;
}

const sources: Record<keyof typeof approverChecks | 'policy asks for that many', Source> = {
  'account is enabled': {
    lose: ({ change, idOf, at }) => change((tx) => tx.accounts.disable(idOf('bob'), at())),
    refuses: /does not ask you/,
  },
  'policy names the account, or it has the role': {
    lose: ({ change, idOf }) => change((tx) => tx.accounts.unassign(idOf('bob'), 'transfer-approver')),
    refuses: /does not ask you/,
  },
  'account does not administer the store': {
    lose: ({ change, idOf, at }) => change((tx) => tx.accounts.makeStoreAdministrator(idOf('bob'), at())),
    refuses: /does not ask you/,
  },
  'account has a one-time password': {
    lose: ({ change, idOf }) => change((tx) => tx.totpSecrets.remove(idOf('bob'))),
    refuses: /one-time password/,
  },
  'account was not changed': {
    lose: ({ change, idOf, at }) =>
      change((tx) => tx.accounts.touch(idOf('bob'), { at: at(), by: idOf('root'), what: 'account password' })),
    refuses: /\(set_account_password\) at .* approvals count from/,
  },
  'sessions of the account were not ended': {
    async lose({ store, idOf, at }) {
      store.clock.advance(seconds(1));
      await store.beside.acts.do(endTokens, itself, { id: idOf('bob'), moment: at(), issuedBefore: null });
    },
  },
  'key of the signature is registered': {
    rule: '2 signed for snap/*:*/stable',
    lose: ({ change, idOf }) => change((tx) => tx.approverKeys.remove({ key: keys.bob, accountId: idOf('bob') })),
  },
  'policy asks for that many': {
    lose: ({ put }) => put('3 for snap/*:*/stable'),
  },
};

t.test('every source of trust in an approver has a row here', (t) => {
  t.strictSame(
    Object.keys(approverChecks).filter((name) => !(name in sources)),
    [],
  );
  t.end();
});

t.test('an approval in the same instant as the end of the sessions of its account counts', async (t) => {
  const { store, idOf, at } = await guarded(t, roles);
  await store.beside.acts.do(endTokens, itself, { id: idOf('bob'), moment: at(), issuedBefore: null });
  const { records } = store.beside;
  const earlier = new Date(store.clock.now.getTime() - 1).toISOString();
  const counts = (time: string) =>
    approverChecks['sessions of the account were not ended'](records, { accountId: idOf('bob'), at: time, key: null });
  t.equal(await counts(at()), true, 'a session that began then is not one of those that ended');
  t.equal(await counts(earlier), false);
});

for (const [name, { rule = roles, lose, refuses }] of Object.entries(sources)) {
  t.test(`an approval counts only if, when the act is done, the ${name}`, async (t) => {
    await t.test('changed after the approval', async (t) => {
      const world = await guarded(t, rule);
      const { release, approve } = world;
      t.match(await release(1), /Waits for 2 more approvals \(proposal 1/);
      await approve('bob', 1);
      await approve('carol', 1);
      await lose(world);
      t.match(await release(1), /Waits for 1 more approval \(proposal 1/, 'the newer state counts');
      await approve('dave', 1);
      t.equal(await release(1), 'done', 'and another approver makes up for it');
    });

    await t.test('changed after the proposal', async (t) => {
      const world = await guarded(t, rule);
      const { release, approve } = world;
      await release(1);
      await lose(world);
      if (refuses === undefined) await approve('bob', 1);
      else await t.rejects(approve('bob', 1), { message: refuses });
      await approve('carol', 1);
      if (name === 'sessions of the account were not ended') {
        t.equal(await release(1), 'done', 'bob has logged in again');
        return;
      }
      t.match(await release(1), /Waits for 1 more approval/);
    });

    await t.test('changed after the act', async (t) => {
      const world = await guarded(t, rule);
      const { release, approve } = world;
      await release(1);
      await approve('bob', 1);
      await approve('carol', 1);
      t.equal(await release(1), 'done');
      await lose(world);
      t.equal(await release(1), 'done', 'what is done stays done');
      t.match(await release(2), /proposal 2/, 'and the next change waits for its own approvals');
    });
  });
}

t.test('after an approval lapsed, the approver approves again before it counts', async (t) => {
  const world = await guarded(t, roles);
  const { release, approve } = world;
  await release(1);
  await approve('bob', 1);
  await t.rejects(approve('bob', 1), { code: 'conflict', message: /already/ });
  await approve('carol', 1);
  await sources['sessions of the account were not ended'].lose(world);
  t.match(await release(1), /Waits for 1 more approval .*Who may approve: bob, dave\./);
  await approve('bob', 1);
  t.equal(await release(1), 'done');
});

t.test('an approval from before a change of the account does not count after the 72 hours either', async (t) => {
  const world = await guarded(t, roles);
  const { store, release, approve } = world;
  await release(1);
  await approve('bob', 1);
  await approve('carol', 1);
  await sources['account was not changed'].lose(world);
  store.clock.advance(hours(80));
  t.match(await release(1), /Waits for 1 more approval .*Who may approve: bob, dave\./);
  await approve('bob', 1);
  t.equal(await release(1), 'done');
});
