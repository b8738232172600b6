// Transfers of a source that are accepted automatically, and transfers that wait with a reason.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import t from 'tap';

import { listReviewReasons } from '#acts/transfers/automatic.ts';
import type { PlanLine } from '#acts/transfers/plan-types.ts';
import { noPolicy } from '#domain/approvals/approval-policy.ts';
import { PackedList } from '#domain/sequence.ts';
import { folder } from '#test/cli/process.ts';
import { askingSite } from '#test/fixtures/accounts/approvers.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { snapOf } from '#test/fixtures/packages/online-store.ts';
import { fingerprintOf } from '#transfers/site.ts';
import { example, goodNow, helloWith, seedOf, written, type Example } from '../statement/example.ts';
import { offered, site, trust, twoSites } from '../sites.ts';

t.setTimeout(600_000);

t.test('a transfer with only known changes is accepted automatically; all others state why they wait', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  const json = join(stick, 'automatic.json');
  await trust(receiver, depot, json, '--accept automatic');
  t.match((await receiver.larder('site show')).out, /its transfers are accepted automatically/);
  t.match(await receiver.done('site show'), { sources: [{ accept: 'automatic' }] });
  let number = 0;
  const sent = async () => {
    const file = join(stick, `in-${String(++number)}.tar`);
    const { id } = (await depot.done(`transfer make ${file}`)) as { id: string };
    return { id, file, came: await receiver.done(`transfer receive ${file}`) };
  };

  await carry(offered('hello-on', 12));
  const first = await sent();
  t.match(first.came, { lacking: [], why: 'snap/hello-on is new here.' });
  t.match((await receiver.done('transfer list')).transfers, [{ status: 'waiting', why: 'snap/hello-on is new here.' }]);
  t.match((await receiver.larder('transfer list')).out, /waits for people: snap\/hello-on is new here\./);
  t.match(
    (await receiver.larder(`transfer preview ${first.id}`)).out,
    /not accepted automatically and waits for a person: snap\/hello-on is new/,
  );
  t.match(
    (await receiver.larder('doctor')).out,
    /Number 1 of depot waits for a decision and was not accepted automatically/,
  );
  await receiver.done(`transfer accept ${first.id} --yes`);
  t.notMatch((await receiver.larder('doctor')).out, /Number 1 of depot waits/);

  await carry(offered('hello-on', 13));
  const next = await sent();
  t.match(next.came, {
    automatic: /^Transfers of 'depot' are accepted automatically: in its scope, signed with 1 of its keys/,
  });
  t.match(next.came, { changes: 2 });
  const [entry] = (await receiver.done('transfer list')).transfers;
  t.match(entry, { id: next.id, status: 'accepted' });
  t.match(
    (await receiver.larder('package show snap/hello-on')).out,
    /stable +amd64? *.*13|stable.*13/,
    'devices have it',
  );
  t.match(
    (await receiver.larder(`transfer receive ${next.file}`)).out,
    /was already accepted/,
    'the same again is no-op',
  );
  await receiver.done(`transfer receipt ${next.id} ${join(stick, 'r.json')}`);
  await receiver.done(`transfer receipt ${next.id} ${join(stick, 'r.html')} --html`);
  const { payload } = JSON.parse(readFileSync(join(stick, 'r.json'), 'utf8')) as { payload: string };
  t.match(JSON.parse(Buffer.from(payload, 'base64').toString()), {
    automatic: /in its scope/,
    approvals: [],
    sources: [{ name: 'depot', accept: 'automatic' }],
  });
  t.match(readFileSync(join(stick, 'r.html'), 'utf8'), /It was accepted automatically\. Transfers of/);

  await depot.done('release snap/hello-on 12 stable');
  t.match((await sent()).came, { why: /latest\/stable \(amd64\): downgrade\./ });
  await depot.done('release snap/hello-on 13 stable');
  await trust(receiver, depot, join(stick, 'people.json'));
  const waits = await sent();
  t.notOk('why' in waits.came || 'automatic' in waits.came, 'typed again without it, all of it waits');
});

largeTest('a name out of scope, another publisher and a conflict wait too', async (t) => {
  const [receiver, stick] = [await site(t, 'site-a'), folder(t)];
  const { publicKey } = seedOf(1);
  const identity = join(stick, 'depot.json');
  writeFileSync(identity, JSON.stringify({ format: 1, site: 'depot', keys: [publicKey], threshold: 1 }));
  const believe = `site trust ${identity} --fingerprint ${fingerprintOf([publicKey])[0] ?? ''} --accept automatic`;
  await receiver.done(believe);
  let sequence = 0;
  const sent = async (more: Partial<ReturnType<typeof helloWith>>, revisions = [1]) => {
    const files = revisions.map((revision) => snapOf(offered('hello-on', revision)));
    const packages = [{ ...helloWith(files), name: 'hello-on', id: 'h'.repeat(32), ...more }];
    const transfer: Example = example(files, { ...goodNow(), sequence: ++sequence, packages });
    const [part = ''] = await written(transfer, folder(t));
    return receiver.done(`transfer receive ${part}`);
  };
  const { id } = await sent({});
  await receiver.done(`transfer accept ${id} --yes`);
  t.match(await sent({}), { changes: 0, automatic: /accepted automatically/ }, 'what says nothing new comes in');
  t.match(await sent({ publisher: 'eve' }), { why: /hello-on would be published by eve \(eve\)\./ });
  t.match(await sent({ tracks: ['latest', '2.0'] }), { why: /The track 2\.0 of snap\/hello-on is new here\./ });
  t.match(await sent({}, [2]), { why: /It is stored here with other content/ });
  await receiver.done(`${believe} --packages 'charm/*'`.replaceAll("'", ''));
  t.match(await sent({}), { why: /may bring charm\/\*, and not this/ });
});

t.test('automatic acceptance is approved like a source, and is no way around the policy', async (t) => {
  const { run, judge, store } = await askingSite(
    t,
    'unsigned_folders = "1 of B"\nreleases = ["1 of B for */*:*/stable"]',
  );
  const stick = folder(t);
  await run('site init site-b');
  const { publicKey } = seedOf(1);
  const identity = join(stick, 'depot.json');
  writeFileSync(identity, JSON.stringify({ format: 1, site: 'depot', keys: [publicKey], threshold: 1 }));
  const plain = `site trust ${identity} --fingerprint ${fingerprintOf([publicKey])[0] ?? ''}`;
  let proposals = 0;
  const approved = async (line: string): Promise<void> => {
    t.match(await run(line), { code: 1, err: /Waits for 1 more approval/ }, line);
    t.match(await judge('approve', 'bob', ++proposals), { code: 0 });
    t.match(await run(line), { code: 0 }, line);
  };
  await approved(plain);
  await run(`${plain} --accept automatic`);
  t.match(await run(`approval show ${String(proposals + 1)}`), { out: /→ .*; what it sends is let in by itself/ });
  await approved(`${plain} --accept automatic`);

  const file = snapOf(offered('hello-on', 1));
  const release = { channel: 'latest/stable', slot: 'amd64', architecture: 'amd64', revision: 1 };
  const hello = { ...helloWith([file]), name: 'hello-on', id: 'h'.repeat(32) };
  const channels = [{ ...release, 'released-at': new Date().toISOString() }];
  const [part = ''] = await written(example([file], { ...goodNow(), packages: [{ ...hello, channels }] }), stick);
  const count = async () => (await store.beside.records.proposals.list({ before: 1e9, openAt: undefined }, 100)).length;
  const before = await count();
  const came = await run(`transfer receive ${part} --json`);
  t.match(JSON.parse(came.out), { why: /^The approval policy requires approvals for its changes\./ });
  t.equal(await count(), before, 'and nothing is proposed in the name of nobody');
  const [late = ''] = await written(example([file], { sequence: 2, packages: [hello] }), folder(t));
  t.match(JSON.parse((await run(`transfer receive ${late} --json`)).out), { why: /^It has expired\./ });
});

t.test('a transfer with any mark in its preview waits, and so does every new name and track', async () => {
  const kinds = fc.constantFrom<PlanLine['kind']>(
    ...(['package', 'publisher', 'account', 'track', 'revision', 'release', 'resource', 'withdrawal'] as const),
  );
  const note = fc.constantFrom('downgrade', 'older than revision 7, which is here', 'anything');
  const line = fc.record({ kind: kinds, notes: fc.array(note, { maxLength: 2 }) });
  const source = { name: 'depot', accept: 'automatic' as const, floor: 0 };
  const context = { source, sequence: 1, isLate: false, policy: noPolicy, approvals: [] };
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), (some) => {
      const lines = new PackedList<PlanLine>();
      for (const change of some)
        lines.add({ package: 'snap/a', what: 'x', from: null, to: 'y', word: 'source', ...change });
      const marked = some.some(
        ({ kind, notes }) =>
          kind === 'package' || kind === 'publisher' || kind === 'track' || (kind !== 'withdrawal' && notes.length > 0),
      );
      const reasons = listReviewReasons(lines, context);
      const people = listReviewReasons(lines, { ...context, source: { ...source, accept: 'people' } });
      return reasons.length > 0 === marked && people.length === 1;
    }),
  );
});
