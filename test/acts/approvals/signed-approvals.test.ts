// Approvals that are signed off the host: with the key of the approver, over exactly the proposed change, and valid
// while both exist.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { itself } from '#acts/act.ts';
import { textToSign } from '#acts/approvals/text-to-sign.ts';
import { addApproverKey, removeApproverKey } from '#acts/approvals/approver-keys.ts';
import { setTotpSecret } from '#acts/accounts/credentials.ts';
import { approveProposal, changeApprovalPolicy } from '#acts/approvals/proposals.ts';
import { nameSite } from '#acts/sites/sites.ts';
import { approvalText } from '#domain/approvals/approval-text.ts';
import { noPolicy, readReleaseRule, readRule, type ApprovalPolicy } from '#domain/approvals/approval-policy.ts';
import { hours } from '#domain/clock.ts';
import { readSshKey } from '#domain/approvals/ssh-key.ts';
import { folder } from '#test/cli/process.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { sshKeyPair, sshSigned } from '#test/fixtures/accounts/ssh-keys.ts';

const people = ['bob', 'carol', 'dave'];

/** ada publishes snap/hello. The approvers have keys of their own, and a stick for signing. */
async function signing(t: Parameters<typeof startStore>[0], hasSiteName = true) {
  const store = await startStore(t);
  for (const username of ['carol', 'dave']) await store.join(username);
  const { acts, records } = store.beside;
  const stick = folder(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const number of [1, 2]) await addRevision(store, id, number);
  if (hasSiteName) await acts.do(nameSite, itself, { name: 'site-b', keyId: 'k', sealedKey: 'sealed' });
  const idOf = (who: string): string => store.ids[who] ?? '';
  const pairs = new Map(people.map((who) => [who, sshKeyPair(stick, who)]));
  const keyOf = (who: string): string => readSshKey(pairs.get(who)?.publicKey ?? '')?.line ?? '';
  for (const who of people) {
    await acts.do(setTotpSecret, itself, { id: idOf(who), secret: 'sealed', replace: false });
    await acts.do(addApproverKey, itself, { id: idOf(who), key: keyOf(who) });
  }
  store.clock.advance(hours(73));
  const rule = (text: string) => text.replaceAll(/bob|carol|dave/g, idOf);
  const put = (releases: string[], rules: ApprovalPolicy['rules'] = {}) =>
    acts.do(changeApprovalPolicy, itself, {
      ...noPolicy,
      rules,
      releases: releases.map((pattern) => readReleaseRule(rule(pattern))!),
    });
  const textOf = async (number: number) => textToSign(records, (await records.proposals.find(number))!);
  let written = 0;
  const sign = (who: string, text: string, namespace?: string): string => {
    const file = join(stick, `text-${String(++written)}`);
    writeFileSync(file, text);
    return sshSigned(pairs.get(who)!, file, namespace);
  };
  const approve = (who: string, number: number, signature?: string) => {
    const login = { accountId: idOf(who), at: store.clock.now.toISOString() };
    return acts.do(approveProposal, { actor: login.accountId }, { number, login, signature });
  };
  const release = async (revision: number, channel = 'stable') => {
    const { status, body } = await ada.post('/v1/snap/hello/releases', [{ channel, revision }]);
    return status === 200 ? 'done' : (body['error-list'][0].message as string);
  };
  return { store, acts, records, ada, idOf, keyOf, put, textOf, sign, approve, release, stick };
}

t.test('a release waits for signatures, and nothing else counts as one', async (t) => {
  const { records, put, textOf, sign, approve, release, keyOf, idOf } = await signing(t);
  await put(['2 signed of bob, carol, dave for snap/*:*/stable']);
  t.match(await release(1), /Waits for 2 more approvals \(proposal 1, .*Each approval must be signed\.$/);
  t.match(await release(2), /proposal 2/);
  const [firstText, two] = [await textOf(1), await textOf(2)];
  t.match(firstText, /^larder approval 1\nstore: "site-b"\nproposal: 1\n/);
  t.match(firstText, /\nchanges: 1\n"releases" "snap\/hello:latest\/stable" "all": nothing -> "1"\n$/);

  const refused = (who: string, signature: string | undefined, message: RegExp) =>
    t.rejects(approve(who, 1, signature), { code: 'forbidden', message }, String(message));
  await refused('bob', undefined, /^The policy requires your signature\. Run 'ssh-keygen -Y sign -n larder-approval/);
  await refused('bob', 'none', /^This is not a signature of 'ssh-keygen -Y sign'/);
  await refused('bob', sign('bob', firstText, 'file'), /^The signature is for another purpose/);
  await refused('bob', sign('bob', two), /^The signature does not match this proposal/);
  await refused(
    'bob',
    sign('bob', firstText.replace('-> "1"', '-> "2"')),
    /^The signature does not match this proposal/,
  );
  await refused(
    'bob',
    sign('bob', firstText.replace('site-b', 'site-c')),
    /^The signature does not match this proposal/,
  );
  await refused('bob', sign('carol', firstText), /^The key SHA256:\S+ is not registered for your account/);
  t.match(await release(1), /Waits for 2 more/, 'none of them counted');

  await approve('bob', 1, sign('bob', firstText));
  await t.rejects(approve('bob', 1, sign('bob', firstText)), { code: 'conflict' }, 'nobody counts twice');
  t.match(await release(1), /Waits for 1 more approval .*Who may approve: carol, dave\./);
  await approve('carol', 1, sign('carol', firstText));
  t.equal(await release(1), 'done');
  const rows = await records.audit.newest(1e15, 10);
  const details = rows.find(({ action }) => action === 'push_releases')?.details ?? '';
  const fingerprints = ['bob', 'carol'].map((who) => readSshKey(keyOf(who))?.fingerprint);
  t.match(JSON.parse(details), { 'approved-by': [idOf('bob'), idOf('carol')], 'signed-with': fingerprints });

  t.match(await release(2), /proposal 3/, 'stable holds something else than what proposal 2 says');
  await t.rejects(approve('bob', 3, sign('bob', two)), { message: /^The signature does not match this proposal/ });
});

t.test('a signed approval counts as long as the key does', async (t) => {
  const { acts, put, textOf, sign, approve, release, keyOf, idOf } = await signing(t);
  await put(['2 signed of bob, carol, dave for snap/*:*/stable']);
  await release(1);
  for (const who of ['bob', 'carol']) await approve(who, 1, sign(who, await textOf(1)));
  await acts.do(removeApproverKey, itself, { id: idOf('bob'), key: keyOf('bob') });
  t.match(await release(1), /Waits for 1 more approval .*Who may approve: dave\. Not yet: bob \(from 2/);
  await t.rejects(
    approve('bob', 1, sign('bob', await textOf(1))),
    { message: /approvals count from/ },
    'and bob waits three days',
  );
  await approve('dave', 1, sign('dave', await textOf(1)));
  t.equal(await release(1), 'done');
  await t.rejects(acts.do(removeApproverKey, itself, { id: idOf('bob'), key: keyOf('bob') }), {
    code: 'resource-not-found',
  });
});

type Signing = Awaited<ReturnType<typeof signing>>;

/** Registers the key of an account, as if the approvers of the policy had agreed. */
function registerKey({ store, idOf }: Signing, who: string, key: string): Promise<unknown> {
  const at = store.clock.now.toISOString();
  const entry = { at, actor: 'test', action: 'add_approver_key', object: `account/${idOf(who)}` };
  return store.beside.records.change(entry, (tx) =>
    tx.approverKeys.add({ key, accountId: idOf(who), addedAt: at, addedBy: 'test' }),
  );
}

const registerAnother = (world: Signing) =>
  registerKey(world, 'bob', readSshKey(sshKeyPair(world.stick, 'another').publicKey)?.line ?? '');

/** Registers the removed key of bob again, and waits until approvals after a key change count. */
async function registerAgain(world: Signing, who: string): Promise<void> {
  await registerKey(world, who, world.keyOf('bob'));
  world.store.clock.advance(hours(73));
}

type Event = (here: Signing) => Promise<unknown>;

/** Events between the signature of bob and the removal of its key, and after the removal. */
const aroundRemoval: Record<string, { before?: Event; after?: Event }> = {
  nothing: {},
  'a restart before': { before: ({ store }) => store.restart() },
  'a restart after': { after: ({ store }) => store.restart() },
  'another key of bob before': { before: registerAnother },
  'another key of bob after': { after: registerAnother },
  'the same key for carol after': { after: (world) => registerAgain(world, 'carol') },
  'the same key for bob again after': { after: (world) => registerAgain(world, 'bob') },
};

t.test('a signature does not count after its key was removed, even if the key returns', async (t) => {
  for (const [name, { before, after }] of Object.entries(aroundRemoval)) {
    const world = await signing(t);
    const { acts, put, textOf, sign, approve, release, keyOf, idOf } = world;
    await put(['1 signed of bob, dave for snap/*:*/stable']);
    await release(1);
    await approve('bob', 1, sign('bob', await textOf(1)));
    await before?.(world);
    const remove = () => acts.do(removeApproverKey, itself, { id: idOf('bob'), key: keyOf('bob') });
    await remove();
    await t.rejects(remove(), { code: 'resource-not-found' }, `${name}: a second removal`);
    await after?.(world);
    t.match(await release(1), /Waits for 1 more approval/, name);
  }
});

t.test('an approver who approved before signatures were required signs as well', async (t) => {
  const { put, textOf, sign, approve, release } = await signing(t);
  await put(['1 of bob, carol for snap/*:*/stable']);
  t.notMatch(await release(1), /sign/);
  await approve('bob', 1);
  await put(['1 signed of bob, carol for snap/*:*/stable']);
  t.match(await release(1), /Waits for 1 more approval \(proposal 1, .*Who may approve: bob, carol\./);
  await approve('bob', 1, sign('bob', await textOf(1)));
  t.equal(await release(1), 'done');
});

t.test('an approver may sign even if no signature is required', async (t) => {
  const { records, put, textOf, sign, approve, release, keyOf } = await signing(t);
  await put(['2 of bob, carol for snap/*:*/stable']);
  await release(1);
  await approve('bob', 1, sign('bob', await textOf(1)));
  await approve('carol', 1);
  t.match(await records.proposals.approvals(1), [
    { key: keyOf('bob'), signature: /BEGIN SSH/ },
    { key: null, signature: null },
  ]);
  t.equal(await release(1), 'done');
});

t.test('an approval without a signature counts for the rule that asks for none, and for no other', async (t) => {
  const { put, textOf, sign, approve, release } = await signing(t);
  await put(['1 signed of bob, carol for snap/*:*/stable', '1 of bob, carol for snap/hello:*/stable']);
  await release(1);
  await approve('bob', 1);
  t.match(await release(1), /Waits for 1 more approval \(proposal 1, .*Each approval must be signed\.$/);
  await approve('bob', 1, sign('bob', await textOf(1)));
  t.equal(await release(1), 'done');
});

t.test('to ask for no signatures any more, and for a key more, takes signatures', async (t) => {
  const { acts, put, textOf, sign, approve, idOf, stick, records } = await signing(t);
  const transfers = readRule(`2 of ${idOf('carol')}, ${idOf('dave')}`)!;
  await put(['1 signed of bob for snap/*:*/stable'], { transfers });
  const lower = () => put(['1 of bob for snap/*:*/stable'], { transfers });
  await t.rejects(lower(), { code: 'approval-required' });
  await approve('carol', 1);
  await approve('dave', 1);
  await t.rejects(lower(), { code: 'approval-required', message: /1 more .*Who may approve: bob\..* sign/ });
  await approve('bob', 1, sign('bob', await textOf(1)));

  const key = readSshKey(sshKeyPair(stick, 'another').publicKey)?.line ?? '';
  const add = () => acts.do(addApproverKey, itself, { id: idOf('bob'), key });
  await t.rejects(add(), { code: 'approval-required' }, 'root alone makes nobody sign');
  t.same((await records.approverKeys.of(idOf('bob'))).length, 1);
  await lower();
  for (const who of ['carol', 'dave']) await approve(who, 2);
  await add();
  t.same((await records.approverKeys.of(idOf('bob'))).length, 2);
});

t.test('a key is of one person', async (t) => {
  const { acts, idOf, keyOf } = await signing(t);
  const add = (who: string) => acts.do(addApproverKey, itself, { id: idOf(who), key: keyOf('bob') });
  await t.rejects(add('bob'), { code: 'conflict', message: /is of \S+ \(bob\) already/ });
  await t.rejects(add('carol'), {
    code: 'conflict',
    message: /is of another account\. Each key belongs to one account/,
  });
});

t.test('a policy is refused if no approver could sign, or if the store has no name', async (t) => {
  const { acts, put, idOf, keyOf } = await signing(t);
  await acts.do(removeApproverKey, itself, { id: idOf('bob'), key: keyOf('bob') });
  const rule = '2 signed of bob, carol for snap/*:*/stable';
  await t.rejects(put([rule]), {
    message: /asks for signatures of 2 people, and 1 of the accounts that it asks has a key/,
  });
  await put(['2 of bob, carol for snap/*:*/stable']);
  const { put: putThere } = await signing(t, false);
  await t.rejects(putThere([rule]), {
    message: /the store has no name yet\. Give it one with 'larder site init NAME'/,
  });
});

t.test('each part of a proposal changes the signed text, and no part hides another', async (t) => {
  const proposed = {
    number: 1,
    act: 'accept_transfer',
    object: 'transfer/1',
    actor: 'cli:root',
    proposedAt: '2026-03-01T12:00:00.000Z',
    digest: 'd',
    lines: [{ kind: 'releases' as const, on: 'snap/a:b', part: null, from: null, to: 'nothing' }],
  };
  const text = approvalText('site-b', proposed);
  const [line] = proposed.lines;
  const others = [
    { ...proposed, number: 2 },
    ...['act', 'object', 'actor', 'proposedAt', 'digest'].map((key) => ({ ...proposed, [key]: 'x' })),
    ...['kind', 'on', 'part', 'from', 'to'].map((key) => ({ ...proposed, lines: [{ ...line!, [key]: 'x' }] })),
    { ...proposed, lines: [{ ...line!, to: null }] },
    { ...proposed, lines: [line!, line!] },
  ].map((proposal) => approvalText('site-b', proposal));
  t.equal(new Set([text, approvalText('site-c', proposed), ...others]).size, others.length + 2);
  const hidden = approvalText('site-b', { ...proposed, actor: 'ada\u202e\n"\u{e0041}' });
  t.match(hidden, String.raw`proposed by: "ada\u202e\n\"\udb40\udc41"`);
});
