// The checker of histories, on histories made by hand.
import t from 'tap';

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
  return changes.map(([{ action, object = 'session/1', details = {} }, requestId], at) => ({
    seq: at + 1,
    action,
    object,
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
