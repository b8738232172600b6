// The gate: a change under the policy is proposed and not done, until others have approved exactly that.
import t from 'tap';

import { itself } from '#acts/act.ts';
import { setTotpSecret } from '#acts/accounts/credentials.ts';
import { approveProposal, changeApprovalPolicy, sweepProposals, rejectProposal } from '#acts/approvals/proposals.ts';
import { pushReleases } from '#acts/releases/releases.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { everyDevice } from '#domain/releases/channel-map.ts';
import { noPolicy, readReleaseRule, type ApprovalPolicy } from '#domain/approvals/approval-policy.ts';
import { days, hours, minutes } from '#domain/clock.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

/** ada publishes snap/hello with three revisions; releases to stable wait for two of bob, carol and dave. */
async function guarded(t: Parameters<typeof startStore>[0], rules = ['2 of B*, carol, dave for snap/*:*/stable']) {
  const store = await startStore(t);
  for (const username of ['carol', 'dave', 'erin']) await store.join(username);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const number of [1, 2, 3]) await addRevision(store, id, number);
  const { ids } = store;
  const insertIds = (text: string): string =>
    text
      .replace('B*', ids.bob)
      .replace('carol', ids['carol'] ?? '')
      .replace('dave', ids['dave'] ?? '');
  const policy: ApprovalPolicy = { ...noPolicy, releases: rules.map((rule) => readReleaseRule(insertIds(rule))!) };
  await store.beside.acts.do(changeApprovalPolicy, itself, policy);
  for (const id of Object.values(ids)) {
    await store.beside.acts.do(setTotpSecret, itself, { id, secret: 'sealed', replace: false });
  }
  store.clock.advance(hours(73));
  const release = (revision: number | null, channel = 'stable') =>
    ada.post('/v1/snap/hello/releases', [{ channel, revision }]);
  return { store, ada, release, approve: (who: string, number: number) => approve(store, who, number) };
}

const approve = (store: TestAppliance, who: string, number: number) => {
  const accountId = store.ids[who] ?? '';
  const login = { accountId, at: store.clock.now.toISOString() };
  return store.beside.acts.do(approveProposal, { actor: accountId }, { number, login });
};

const held = async (store: TestAppliance): Promise<string[]> => {
  const ada = await store.as('ada');
  const map = (await ada.get('/v1/snap/hello/releases')).body['channel-map'] as { channel: string; revision: number }[];
  return map.map(({ channel, revision }) => `${channel}=${String(revision)}`);
};

const outcomeOf = ({ status, body }: { status: number; body: unknown }): [number, string] => [
  status,
  (body as { 'error-list'?: { message: string }[] })['error-list']?.[0]?.message ?? '',
];

t.test('a release waits for two others, and is done by the same request once they have approved', async (t) => {
  const { store, release, approve } = await guarded(t);
  const until = new Date(store.clock.now.getTime() + days(7)).toISOString();
  const waits = (more: string, who: string): [number, string] => [
    403,
    `Waits for ${more} (proposal 1, until ${until}). Who may approve: ${who}.`,
  ];
  t.strictSame(outcomeOf(await release(1)), waits('2 more approvals', 'bob, carol, dave'));
  t.strictSame(
    outcomeOf(await release(1)),
    waits('2 more approvals', 'bob, carol, dave'),
    'the same again adds nothing',
  );
  t.equal((await release(1)).body['error-list'][0].code, 'approval-required');
  t.strictSame(await held(store), [], 'nothing is released');
  t.equal((await store.beside.records.proposals.list({ before: 1e9, openAt: undefined }, 10)).length, 1);

  await approve('bob', 1);
  t.strictSame(outcomeOf(await release(1)), waits('1 more approval', 'carol, dave'));
  await t.rejects(approve('bob', 1), { code: 'conflict' }, 'nobody approves twice');
  await t.rejects(approve('ada', 1), { code: 'forbidden' }, 'nor what he proposed');
  await t.rejects(approve('erin', 1), { code: 'forbidden' }, 'nor somebody whom nobody asks');
  await t.rejects(approve('root', 1), { code: 'forbidden' }, 'an administrator counts only where he is named');
  await approve('carol', 1);
  t.equal((await release(1)).status, 200);
  t.strictSame(await held(store), ['latest/stable=1']);

  const rows = await store.beside.records.audit.newest(1e15, 10);
  const details = rows.find(({ action }) => action === 'push_releases')?.details ?? '';
  t.match(JSON.parse(details), { proposal: 1, 'approved-by': [store.ids.bob, store.ids['carol']] });
  t.equal((await store.beside.records.proposals.find(1))?.state, 'done');
  t.equal((await release(1)).status, 200, 'what changes nothing asks nobody');
  t.match(outcomeOf(await release(2)), [403, /proposal 2/], 'and the next one waits anew');
});

t.test('a policy holds from the next change on, also in the same commit', async (t) => {
  const { store } = await guarded(t, []);
  const { acts, records } = store.beside;
  const subject = (await records.packages.find('snap', 'hello'))!;
  const push = (revision: number) => {
    const release = { channel: parseChannel('stable')!, revision, progressive: everyDevice, resources: [] };
    return acts.do(pushReleases, { actor: store.ids.ada }, { package: subject, releases: [release] });
  };
  const policy = { ...noPolicy, releases: [readReleaseRule(`1 of ${store.ids.bob} for snap/*:*/stable`)!] };
  const outcomes = await Promise.allSettled([push(1), acts.do(changeApprovalPolicy, itself, policy), push(2)]);
  t.match(outcomes, [
    { status: 'fulfilled' },
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'approval-required' } },
  ]);
  t.strictSame(await held(store), ['latest/stable=1']);
});

t.test('of two rules for one channel the stricter one decides, in any order', async (t) => {
  const rules = ['2 of B*, carol, dave for snap/*:*/stable', '1 of B* for snap/hello:*/stable'];
  for (const ordered of [rules, rules.toReversed()]) {
    const { store, release, approve } = await guarded(t, ordered);
    t.match(outcomeOf(await release(1)), [403, /^Waits for 2 more approvals /], ordered[0]!);
    await approve('bob', 1);
    t.match(outcomeOf(await release(1)), [403, /^Waits for 1 more approval .*Who may approve: carol, dave\.$/]);
    t.strictSame(await held(store), []);
    await approve('dave', 1);
    t.equal((await release(1)).status, 200);
  }
});

t.test('acts outside the policy are done at once, and an impossible act never waits', async (t) => {
  const { store, release } = await guarded(t);
  t.equal((await release(1, 'edge')).status, 200);
  t.equal((await release(1, 'stable/fix')).status, 200, 'a branch has a name of its own');
  t.equal((await release(9)).status, 400);
  t.equal((await release(null)).status, 200, 'an empty channel is closed already');
  t.strictSame(await store.beside.records.proposals.list({ before: 1e9, openAt: undefined }, 10), []);
});

t.test('an approval lapses when its own channels change, and not when other channels change', async (t) => {
  const { store, release, approve } = await guarded(t, ['1 of B*, carol for snap/*:*/stable']);
  await release(1);
  await release(2);
  await approve('bob', 1);
  await approve('bob', 2);
  await release(3, 'edge');
  t.equal((await release(1)).status, 200, 'a release elsewhere does not touch it');
  t.match(outcomeOf(await release(2)), [403, /proposal 3/], 'stable holds something else than bob was told');
  t.equal((await store.beside.records.proposals.find(2))?.state, 'fallen');
  const entries = await store.beside.records.audit.list(0, 1000);
  const proposed = entries.findLast(({ action }) => action === 'propose_change')!;
  t.match(JSON.parse(proposed.details), { proposal: 3, replaces: [2] }, 'the log names the proposal that fell');
  await release(3);
  await store.beside.acts.do(approveProposal, itself, {
    number: 3,
    login: { accountId: store.ids.bob, at: store.clock.now.toISOString() },
  });
  t.equal((await release(2)).status, 200);
  t.strictSame(await approve('carol', 4), { fell: true }, 'and who approves too late is told so');
  t.equal((await store.beside.records.proposals.find(4))?.state, 'fallen');
});

t.test('a login approves for 15 minutes, and a proposal can be approved until it ends', async (t) => {
  const { store, release, approve } = await guarded(t);
  await release(1);
  const { bob: accountId } = store.ids;
  const login = { accountId, at: store.clock.now.toISOString() };
  const approveAsBob = () => store.beside.acts.do(approveProposal, { actor: accountId }, { number: 1, login });
  store.clock.advance(minutes(15) + 1);
  await t.rejects(approveAsBob(), { code: 'twofactor-required', message: /older than 15 minutes/ });
  store.clock.advance(-1);
  await approveAsBob();
  store.clock.advance(days(7) - minutes(15) - 1);
  await approve('carol', 1);
  store.clock.advance(1);
  await t.rejects(approve('dave', 1), { code: 'conflict', message: /expired/ });
});

t.test('the proposer rejects their own proposal, although the policy does not ask them', async (t) => {
  const { store, release, approve } = await guarded(t);
  await release(1);
  const { ada } = store.ids;
  const login = { accountId: ada, at: store.clock.now.toISOString() };
  await store.beside.acts.do(rejectProposal, { actor: ada }, { number: 1, login, reason: 'It was a slip.' });
  await t.rejects(approve('bob', 1), { code: 'conflict', message: /is rejected already/ });
});

t.test('a rejected proposal stays until it expires, and an expired one does not count', async (t) => {
  const { store, release, approve } = await guarded(t, ['1 of B*, carol for snap/*:*/stable']);
  await release(1);
  const login = { accountId: store.ids.bob, at: store.clock.now.toISOString() };
  const actor = { actor: store.ids.bob };
  await store.beside.acts.do(rejectProposal, actor, { number: 1, login, reason: 'It crashes on pumps.' });
  t.match(outcomeOf(await release(1)), [403, /^Rejected by bob \(proposal 1\): It crashes on pumps\./]);
  await t.rejects(approve('carol', 1), { code: 'conflict' });
  await release(2);
  await approve('carol', 2);
  store.clock.advance(days(8));
  t.match(outcomeOf(await release(2)), [403, /proposal 3/], 'an approval ends with its proposal');
  await t.rejects(approve('carol', 2), { code: 'conflict', message: /expired/ });
  t.match(outcomeOf(await release(1)), [403, /proposal 4/], 'and so does a rejection');
});

t.test('a policy that asks for less has to be approved by the one in force', async (t) => {
  const { store, release, approve } = await guarded(t);
  const change = (policy: ApprovalPolicy) => store.beside.acts.do(changeApprovalPolicy, itself, policy);
  await t.rejects(change(noPolicy), { code: 'approval-required', message: /2 more approvals \(proposal 1/ });
  t.equal((await release(1)).status, 403, 'the old one stays');
  await approve('bob', 1);
  await approve('carol', 1);
  await change(noPolicy);
  t.equal((await release(1)).status, 200);
});

t.test('every path to a channel has the same gate, and closing one too', async (t) => {
  const { store, ada, approve } = await guarded(t, ['1 of B* for snap/*:*/stable']);
  const { id } = (await store.beside.records.packages.find('snap', 'hello')) ?? { id: '' };
  const doors = [
    () => ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 1 }]),
    () => ada.post('/dev/api/snap-release/', { name: 'hello', series: '16', revision: '2', channels: ['stable'] }),
    () => ada.post(`/dev/api/snaps/${id}/close`, { channels: ['stable'] }),
  ];
  for (const [at, door] of doors.entries()) {
    const before = await held(store);
    const refused = await door();
    t.equal(refused.status, 403);
    t.match(JSON.stringify(refused.body), /"approval-required".*Waits for 1 more approval/);
    t.strictSame(await held(store), before);
    await approve('bob', at + 1);
    t.equal((await door()).status, 200);
    t.notSame(await held(store), before);
  }
});

t.test('old proposals are forgotten, except the newest', async (t) => {
  const { store, release } = await guarded(t);
  await release(1);
  await release(2);
  store.clock.advance(days(120));
  const before = store.clock.now.toISOString();
  t.strictSame(await store.beside.acts.do(sweepProposals, itself, { before, atMost: 10 }), { forgotten: 1 });
  t.equal(await store.beside.records.proposals.find(1), undefined);
  t.match(await store.beside.records.proposals.find(2), { number: 2 });
});

t.test('an approver who proposes needs the approval of another approver', async (t) => {
  const { release, approve } = await guarded(t, [`1 of B*, ${'A'.repeat(32)} for snap/*:*/stable`]);
  t.match(outcomeOf(await release(1)), [403, /Who may approve: bob\./]);
  await t.rejects(approve('ada', 1), { code: 'forbidden', message: /yourself/ });
  t.equal((await release(1)).status, 403);
  await approve('bob', 1);
  t.equal((await release(1)).status, 200);
});

t.test('an account has at most 500 waiting proposals, and expired proposals do not count', async (t) => {
  const { store, release } = await guarded(t);
  const at = store.clock.now.toISOString();
  const endsAt = new Date(store.clock.now.getTime() + days(1)).toISOString();
  const { ada } = store.ids;
  await store.beside.records.change({ at, actor: 'test', action: 'test', object: 'proposals' }, async (tx) => {
    for (let number = 0; number < 500; number++) {
      const other = { act: 'test', object: `${number}`, asked: `a${number}`, digest: `d${number}`, lines: [] };
      await tx.proposals.add({ ...other, actor: ada, proposedAt: at, endsAt });
    }
  });
  t.match(outcomeOf(await release(1)), [429, /^500 of your proposals wait already/]);
  store.clock.advance(days(1) - 1);
  t.equal((await release(1)).status, 429, 'until the last millisecond');
  store.clock.advance(1);
  t.match(outcomeOf(await release(1)), [403, /Waits for 2 more approvals \(proposal 501/]);
});
