// The checker of histories, on histories made by hand.
import t from 'tap';

import { Approver } from './load/approvers.ts';
import { checkHistory } from './checker.ts';
import { History, type ExpectedEntry } from './history.ts';
import { channelText, type LoggedEntry } from './model.ts';

const register = (name: string): ExpectedEntry => ({ action: 'register_name', object: `bin/${name}` });
const release = (revision: number | null): ExpectedEntry => ({
  action: 'push_releases',
  object: 'bin/tool',
  details: { releases: [['latest/edge', revision]] },
});
const revoke: ExpectedEntry = { action: 'revoke_token', object: 'session/1' };
const isRevoked = { outcome: 'read', claims: [{ key: 'session/1', is: 'revoked' }] } as const;
const isOpen = { outcome: 'read', claims: [{ key: 'session/1', is: 'open' }] } as const;

/** A log with these changes, each with the request id. */
function log(...changes: [change: ExpectedEntry, requestId: string | null][]): LoggedEntry[] {
  return changes.map(([{ action, object = 'session/1', actor = 'ada', details = {} }, requestId], at) => ({
    seq: at + 1,
    action,
    object,
    actor,
    requestId,
    details: { account: 'ada', ...details },
  }));
}

const login: ExpectedEntry = { action: 'issue_token', object: 'session/1' };
const pushed = (upload: string): ExpectedEntry => ({
  action: 'push_revision',
  object: 'bin/tool',
  details: { upload },
});
const approved = (upload: string, revision: number): ExpectedEntry => ({
  action: 'approve_upload',
  object: 'bin/tool',
  details: { upload, revision },
});

t.test('a history whose answers fit the log has no violation', async (t) => {
  const history = new History();
  const first = history.send('register a', register('a'));
  const second = history.send('register a again', register('a'));
  const refused = { outcome: 'refused', requestId: 'two', claims: [{ key: 'name bin/a', isNot: null }] } as const;
  second(refused);
  first({ outcome: 'done', requestId: 'one' });
  history.send('a change without an answer that was not done', register('b'));
  history.send('a change without an answer that was done', register('c'));
  history.send('read a name', undefined)({ outcome: 'read', claims: [{ key: 'name bin/d', is: null }] });
  t.same(checkHistory(history.observations, log([register('a'), 'one'], [register('c'), 'three'])), []);
});

t.test('a read during a change may show the state before it and after it', async (t) => {
  const history = new History();
  const entries = log([login, null], [revoke, 'one']);
  const before = history.send('whoami');
  const revoked = history.send('revoke', revoke);
  const during = history.send('whoami');
  before(isRevoked);
  revoked({ outcome: 'done', requestId: 'one' });
  during(isRevoked);
  t.same(checkHistory(history.observations, entries, { after: 1 }), []);
});

t.test('a token that works after its revocation was acknowledged is a violation', async (t) => {
  const history = new History();
  history.send('revoke', revoke)({ outcome: 'done', requestId: 'one' });
  history.send('whoami')(isOpen);
  const [violation, ...others] = checkHistory(history.observations, log([login, null], [revoke, 'one']), { after: 1 });
  t.match(violation, /^untrue: 'whoami'.*after entry 2 it is revoked since entry 2/);
  t.same(others, []);
});

t.test(
  'a read that is older than an earlier read is a violation, although the change was not acknowledged',
  async (t) => {
    const history = new History();
    history.send('revoke', revoke);
    history.send('whoami')(isRevoked);
    history.send('whoami')(isOpen);
    const violations = checkHistory(history.observations, log([login, null], [revoke, 'one']), { after: 1 });
    t.match(violations, [/^untrue: 'whoami'/]);
  },
);

t.test('a read of a value from a later time is a violation', async (t) => {
  const history = new History();
  const entries = log([register('tool'), null], [pushed('u'), null], [approved('u', 1), null]);
  const channels = { key: 'channels bin/tool', is: channelText([['latest/edge', 1]]) };
  history.send('list releases')({ outcome: 'read', claims: [channels] });
  history.send('release', release(1))({ outcome: 'done', requestId: 'one' });
  const all = [...entries, { ...log([release(1), 'one'])[0]!, seq: 4 }];
  t.match(checkHistory(history.observations, all, { after: 3 }), [/^untrue: 'list releases'/]);
});

t.test('an acknowledged change without an entry is a violation', async (t) => {
  const history = new History();
  history.send('register a', register('a'))({ outcome: 'done', requestId: 'one' });
  t.match(checkHistory(history.observations, []), [/^lost: 'register a'/]);
});

t.test('a change with two entries is a violation, with its answer and without it', async (t) => {
  const entries = log([login, null], [revoke, 'one'], [revoke, 'one']);
  const history = new History();
  history.send('revoke', revoke)({ outcome: 'done', requestId: 'one' });
  t.match(checkHistory(history.observations, entries, { after: 1 }), [/^done twice: 'revoke'/]);
  const cut = new History();
  cut.send('revoke', revoke);
  t.match(checkHistory(cut.observations, entries, { after: 1 }), [
    /^entry 3 \(revoke_token session\/1\) has no request/,
  ]);
});

t.test('an entry of another change, or for a refused request, is a violation', async (t) => {
  const history = new History();
  history.send('register a', register('a'))({ outcome: 'done', requestId: 'one' });
  history.send('register c', register('c'))({ outcome: 'refused', requestId: 'two' });
  const entries = log([register('b'), 'one'], [register('c'), 'two']);
  t.match(checkHistory(history.observations, entries), [/^another change: 'register a'/, /^refused and done/]);
});

t.test('a refusal that is true at no position is a violation', async (t) => {
  const history = new History();
  history.send(
    'register a',
    register('a'),
  )({
    outcome: 'refused',
    requestId: 'one',
    claims: [{ key: 'name bin/a', isNot: null }],
  });
  t.match(checkHistory(history.observations, []), [/^untrue: 'register a'/]);
});

t.test('changes in another order than their answers are a violation', async (t) => {
  const history = new History();
  history.send('register a', register('a'))({ outcome: 'done', requestId: 'one' });
  history.send('register b', register('b'))({ outcome: 'done', requestId: 'two' });
  const entries = log([register('b'), 'two'], [register('a'), 'one']);
  t.match(checkHistory(history.observations, entries), [/^too early: 'register b'/]);
});

t.test('entries that cannot follow from the state before them are violations', async (t) => {
  const entries = log(
    [register('tool'), null],
    [register('tool'), null],
    [pushed('u'), null],
    [approved('u', 2), null],
    [approved('u', 3), null],
    [release(4), null],
    [revoke, null],
  );
  t.match(checkHistory([], entries), [
    /^entry 2 .*again/,
    /^entry 4 .*not the next revision/,
    /^entry 5 .*does not wait/,
    /^entry 6 .*does not exist/,
    /^entry 7 .*never began/,
  ]);
});

t.test('an upload that is never reviewed is a violation', async (t) => {
  const entries = log([pushed('u'), null]);
  t.match(checkHistory([], entries, { neverLast: { prefix: 'upload ', value: 'waiting' } }), [/^upload u is still/]);
});

t.test('a repeated push whose first answer was lost is acknowledged without an entry of its own', async (t) => {
  const history = new History();
  const claims = [{ key: 'upload u', isNot: null }];
  history.send('push u', pushed('u'));
  history.send('push u', pushed('u'))({ outcome: 'done', requestId: 'two', claims });
  t.same(checkHistory(history.observations, log([pushed('u'), 'one'])), []);
  t.match(checkHistory(history.observations, []), [/^untrue: 'push u'/]);
});

const policy: ExpectedEntry = {
  action: 'change_approval_policy',
  object: 'approval policy',
  details: { policy: { 'releases bin/*-gated:*/*': '2 of bob, carol' } },
};
const propose = (proposal: number, details: object = {}): ExpectedEntry => ({
  action: 'propose_change',
  object: 'bin/pump-gated',
  details: { proposal, ...details },
});
const approve = (proposal: number, actor: string, details: object = {}): ExpectedEntry => ({
  action: 'approve_proposal',
  object: `proposal/${proposal}`,
  actor,
  details: { ...details },
});
const carryOut = (details: object): ExpectedEntry => ({
  action: 'push_releases',
  object: 'bin/pump-gated',
  details: { releases: [['latest/edge', 1]], ...details },
});

t.test('a release with two approvals uses its proposal up', async (t) => {
  const done = carryOut({ proposal: 1, 'approved-by': ['bob', 'carol'] });
  const entries = log(
    [policy, null],
    [propose(1), 'one'],
    [approve(1, 'bob'), 'two'],
    [approve(1, 'carol'), 'three'],
    [done, 'four'],
    // The channel has this revision already.
    [carryOut({}), 'five'],
  );
  const history = new History();
  const waits = (missing: number) =>
    ({
      outcome: 'read',
      claims: [
        { key: 'proposal/1', is: 'open' },
        { key: 'missing proposal/1', is: String(missing) },
      ],
    }) as const;
  history.send('propose', propose(1))({ outcome: 'done', requestId: 'one' });
  history.send('read proposal')(waits(2));
  history.send('approve', approve(1, 'bob'))({ outcome: 'done', requestId: 'two' });
  history.send('read proposal')(waits(1));
  history.send('approve', approve(1, 'carol'))({ outcome: 'done', requestId: 'three' });
  history.send('carry out', done)({ outcome: 'done', requestId: 'four' });
  history.send('carry out again', carryOut({}))({ outcome: 'done', requestId: 'five' });
  t.same(checkHistory(history.observations, entries, { after: 1 }), []);
  history.send('read proposal')(waits(1));
  t.match(checkHistory(history.observations, entries, { after: 1 }), [/^untrue: 'read proposal'/]);
});

t.test('an approval that counts twice is a violation', async (t) => {
  const entries = log(
    [policy, null],
    [propose(1), null],
    [approve(1, 'bob'), null],
    [approve(1, 'bob'), null],
    [carryOut({ proposal: 1, 'approved-by': ['bob'] }), null],
  );
  t.match(checkHistory([], entries), [/^entry 4 .*second approval/, /^entry 5 .*names other approvals/]);
});

t.test('a release of a gated package without its approvals is a violation', async (t) => {
  const replaced = log(
    [policy, null],
    [propose(1), null],
    [approve(1, 'bob'), null],
    [carryOut({ proposal: 1, 'approved-by': ['bob'] }), null],
    [propose(2), null],
    [propose(3, { replaces: [2] }), null],
    [approve(2, 'bob'), null],
  );
  t.match(checkHistory([], replaced), [/^entry 4 .*not approved/, /^entry 7 .*not open/]);
  t.match(checkHistory([], log([policy, null], [carryOut({}), null])), [/^entry 2 .*not approved/]);
  t.match(
    checkHistory(
      [],
      log([propose(1), null], [propose(2, { replaces: [1] }), null], [propose(3, { replaces: [1] }), null]),
    ),
    [/^entry 3 .*replaces/],
  );
});

t.test('an approval under another account, and a code that is acknowledged twice, are violations', async (t) => {
  const history = new History();
  history.send('approve', approve(1, 'bob'))({ outcome: 'done', requestId: 'one' });
  const entries = log([propose(1), null], [approve(1, 'carol'), 'one']);
  t.match(checkHistory(history.observations, entries, { after: 1 }), [/^another change: 'approve'/]);

  const approver = new Approver({ id: 'bob', secret: 'A'.repeat(32) }, 'token');
  const code = approver.takeCode();
  t.same([approver.isRefusable(code), approver.use(code), approver.use(code)], [false, true, false]);
  approver.takeCode();
  t.ok(approver.isRefusable(code), 'one that was sent again, or after which a later one was sent');
});

const received = (medium: string): ExpectedEntry => ({
  action: 'receive_transfer',
  object: 'transfer/a',
  details: { media: medium },
});
const settled = (verb: string, details: object = {}): ExpectedEntry => ({
  action: `${verb}_transfer`,
  object: 'transfer/a',
  details: { ...details },
});
const acceptedNumber = (sequence: number, object = 'transfer/a'): ExpectedEntry => ({
  ...settled('accept', { source: 'depot', sequence }),
  object,
});
const isTransfer = (is: string | null) => ({ outcome: 'read', claims: [{ key: 'transfer/a', is }] }) as const;

t.test('a transfer that is discarded, received again, accepted and withdrawn has no violation', async (t) => {
  const entries = log(
    [received('disc-1'), null],
    [settled('discard'), 'one'],
    [received('disc-2'), null],
    [acceptedNumber(1), 'two'],
    [received('disc-3'), null],
    [settled('withdraw'), 'three'],
  );
  const history = new History();
  history.send('list')(isTransfer(null));
  history.send('receive', received('disc-1'))({ outcome: 'done', requestId: 'disc-1' });
  history.send('list')(isTransfer('waiting'));
  history.send('discard', settled('discard'))({ outcome: 'done', requestId: 'one' });
  // This command was killed, and had received the transfer.
  history.send('receive', received('disc-2'));
  history.send('accept', settled('accept'))({ outcome: 'done', requestId: 'two' });
  history.send('receive', received('disc-3'))({ outcome: 'done', requestId: 'disc-3' });
  history.send('list')(isTransfer('accepted'));
  history.send('withdraw', settled('withdraw'))({ outcome: 'done', requestId: 'three' });
  history.send('list')(isTransfer('withdrawn'));
  t.same(checkHistory(history.observations, entries), []);
});

t.test('a transfer that is accepted twice, or after a later one, is a violation', async (t) => {
  const entries = log(
    [received('disc-1'), null],
    [acceptedNumber(2), 'one'],
    [acceptedNumber(2), 'two'],
    [{ ...received('disc-2'), object: 'transfer/b' }, null],
    [acceptedNumber(1, 'transfer/b'), 'three'],
    [settled('discard'), 'four'],
  );
  t.match(checkHistory([], entries), [
    /^entry 3 .*settles a transfer that is accepted/,
    /^entry 3 .*older than an accepted/,
    /^entry 5 .*older than an accepted/,
    /^entry 6 .*settles a transfer that is accepted/,
  ]);
});

t.test('a stale status of a transfer, and a receipt without an entry, are violations', async (t) => {
  const history = new History();
  history.send('receive', received('disc-1'))({ outcome: 'done', requestId: 'disc-1' });
  history.send('accept', settled('accept'))({ outcome: 'done', requestId: 'one' });
  history.send('list')(isTransfer('waiting'));
  const entries = log([received('disc-1'), null], [acceptedNumber(1), 'one']);
  t.match(checkHistory(history.observations, entries), [/^untrue: 'list'/]);
  history.send('receive', received('disc-2'))({ outcome: 'done', requestId: 'disc-2' });
  t.match(checkHistory(history.observations, entries), [/^lost: 'receive'/, /^untrue: 'list'/]);
});

t.test('the checker looks at each entry and each claim a few times, however long the history is', async (t) => {
  const countLooks = (size: number): number => {
    let looks = 0;
    /** Counts how often a member of an object is read. */
    const counted = <Item extends object>(item: Item, name: keyof Item): Item => {
      const value = item[name];
      return Object.defineProperty({ ...item }, name, { enumerable: true, get: () => (looks++, value) });
    };
    const [history, entries]: [History, LoggedEntry[]] = [new History(), log([login, null])];
    for (let at = 0; at < size; at++) {
      history.send('register', register(`n${at}`))({ outcome: 'done', requestId: `r${at}` });
      history.send('read')({ outcome: 'read', claims: [counted({ key: `name bin/n${at}`, is: 'ada' }, 'is')] });
      history.send('whoami')({ outcome: 'read', claims: [counted({ key: 'session/1', is: 'open' }, 'is')] });
      entries.push(counted({ ...log([register(`n${at}`), `r${at}`])[0]!, seq: at + 2 }, 'seq'));
    }
    t.same(checkHistory(history.observations, entries, { after: 1 }), []);
    return looks;
  };
  t.ok(countLooks(4000) <= 8 * countLooks(500));
});
