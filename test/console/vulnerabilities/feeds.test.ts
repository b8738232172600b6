// Feeds of advisories are uploaded in the browser, shown beside the present ones, imported and removed.
import { gzipSync } from 'node:zlib';

import t from 'tap';

import { changeRole } from '#acts/accounts/accounts.ts';
import { itself } from '#acts/act.ts';
import { approveProposal, changeApprovalPolicy } from '#acts/approvals/proposals.ts';
import { noPolicy, readRule } from '#domain/approvals/approval-policy.ts';
import { hours } from '#domain/clock.ts';
import { openReady, startConsole, type ConsoleStore, type Visitor } from '#test/console/world.ts';
import { sender } from '#test/console/transfers/sending.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { tar, zip } from '#test/fixtures/packages/archives.ts';
import { kevCatalog, osvRecord, osvZip, vexDocument } from '#test/fixtures/vulnerabilities/feeds.ts';
import { advisory } from '#test/operations/vulnerabilities/world.ts';

t.setTimeout(600_000);

const at = '/console/vulnerabilities';
const ubuntu = (...numbers: number[]): Buffer<ArrayBuffer> =>
  Buffer.from(osvZip(numbers.map((number) => advisory(number))));

/** A store at a time after the feeds, and an administrator at the page of vulnerabilities. */
async function importing(t: Parameters<typeof startConsole>[0]) {
  const store = await startConsole(t);
  store.clock.advance(Date.parse('2026-12-01T12:00:00.000Z') - store.clock.now.getTime());
  return { store, ...(await atPage(store)) };
}

async function atPage(store: ConsoleStore) {
  const root = await store.visit('root');
  const feeds = sender(store, root, await root.open(at), `${at}/uploads`);
  /** Uploads a file as a whole; returns the page that shows the feed. */
  const bring = async (bytes: Buffer<ArrayBuffer>) => openReady(root, (await feeds.whole(bytes)).location);
  return { root, feeds, bring };
}

const listFeeds = async (store: ConsoleStore) =>
  (await store.beside.records.vulnerabilityFeeds.list()).map(({ source, entries, isInForce, importedBy }) => {
    return { source, entries, isInForce, importedBy };
  });

const listImports = async (store: ConsoleStore) =>
  (await store.beside.records.audit.list(0, 10_000)).filter(({ action }) => action === 'import_feed');

const send = (visitor: Visitor, page: Awaited<ReturnType<Visitor['open']>>) =>
  visitor.send(page, page.address.replace(/\?.*/, ''));

t.test('an administrator uploads a feed, sees what it changes, and imports it', async (t) => {
  const { store, root, bring } = await importing(t);
  const page = await bring(ubuntu(1001, 1002));
  t.match(page.text, /This is a preview\. Nothing has changed yet\. Feed ubuntu Format OSV/);
  t.match(page.text, /Entries no feed 2 .*Releases no feed ubuntu:22\.04/);
  t.match(page.text, 'larder feed import ./feed.zip');
  t.same(await listFeeds(store), []);
  const done = await send(root, page);
  t.match(done.text, /The feed is imported\..* ubuntu in force /);
  t.same(await listFeeds(store), [{ source: 'ubuntu', entries: 2, isInForce: true, importedBy: store.ids.root }]);
  t.equal(await store.beside.records.unclaimedUploads.count(), 0, 'the uploaded file is a feed now');
  const [entry] = await listImports(store);
  t.match(entry, { actor: store.ids.root, object: 'feed/ubuntu' });
  t.type(entry?.sessionId, 'string', 'with the session and the request');
  t.type(entry?.requestId, 'string');

  const again = await bring(ubuntu(1001, 1002));
  t.match(again.text, 'This feed is present already.');
  t.notMatch(again.html, /<button>\s*Import\s*</);
  const next = await bring(ubuntu(1001, 1002, 1003));
  t.match(next.text, /Releases that it adds none Releases that it drops none/);
  t.match(next.text, /Entries 2 3/);
  t.match((await send(root, next)).text, 'The feed is imported.');
  t.equal((await listImports(store)).length, 2);
});

t.test('a smaller feed needs a choice, and a name makes it another feed', async (t) => {
  const { store, root, bring } = await importing(t);
  await send(root, await bring(ubuntu(1001, 1002, 1003)));
  const page = await bring(ubuntu(1001));
  t.match(page.text, /The feed has only 1 entry, unlike the present feed 'ubuntu' with 3 entries/);
  t.notMatch(page.html, /<button>\s*Import\s*</);
  const address = page.address;
  t.match(await root.open(`${address}?source=No+Name`), { status: 200, text: /The name of a feed has lower-case/ });
  const namedPage = await openReady(root, `${address}?source=other`);
  t.match(namedPage.text, 'larder feed import ./feed.zip --source other');
  t.match(namedPage.text, /Entries no feed 1/);
  const smaller = await openReady(root, `${address}?smaller=yes`);
  t.match(smaller.text, 'larder feed import ./feed.zip --smaller');
  t.match((await send(root, namedPage)).text, 'The feed is imported.');
  t.match(await listFeeds(store), [
    { source: 'other', entries: 1, isInForce: true },
    { source: 'ubuntu', entries: 3, isInForce: true },
  ]);
  t.match(await send(root, smaller), { status: 404, text: /There is no such upload/ }, 'the upload is used');
  t.match((await send(root, await openReady(root, `${(await bring(ubuntu(1001))).address}?smaller=yes`))).status, 200);
  t.match(await listFeeds(store), [{ source: 'other' }, { source: 'ubuntu', entries: 1 }]);
});

t.test('an import and a removal wait for the approvals that the policy asks for', async (t) => {
  const { store } = await importing(t);
  await store.join('carol');
  const carol = store.ids['carol'] ?? '';
  await store.beside.acts.do(changeRole, itself, { id: carol, role: 'transfer-approver', remove: false });
  await store.setTotp('carol');
  store.clock.advance(hours(73));
  const rule = readRule('1')!;
  await store.beside.acts.do(changeApprovalPolicy, itself, { ...noPolicy, rules: { feeds: rule } });
  const { root, bring } = await atPage(store);
  const page = await bring(ubuntu(1001));
  t.match(page.text, /The approval policy requires 1 approval\. The import becomes a proposal first\./);
  const waits = await send(root, page);
  t.match(waits.text, /proposed and waits for approvals.* waits as proposal 1 for 1 more approval/);
  t.notMatch(waits.html, /<button>\s*(?:Import|Propose)/);
  t.same(await listFeeds(store), []);
  const approve = (number: number) =>
    store.beside.acts.do(
      approveProposal,
      { actor: carol },
      { number, login: { accountId: carol, at: store.clock.now.toISOString() } },
    );
  await approve(1);
  const approved = await openReady(root, page.address);
  t.match(approved.text, 'This import is approved as proposal 1');
  t.match((await send(root, approved)).text, 'The feed is imported.');
  t.match(JSON.parse((await listImports(store))[0]?.details ?? ''), { proposal: 1, 'approved-by': [carol] });

  const ask = await root.open(`${at}/remove-feed?source=ubuntu`);
  t.match(ask.text, /The removal becomes a proposal first\..*larder feed remove ubuntu --yes/);
  const removing = await send(root, ask);
  t.match(removing.text, 'waits as proposal 2 for 1 more approval');
  await approve(2);
  t.match((await send(root, await root.open(`${at}/remove-feed?source=ubuntu`))).text, 'The feed is removed.');
  t.same(await listFeeds(store), []);
  t.match(await root.open(`${at}/remove-feed?source=ubuntu`), { status: 404, text: /There is no feed 'ubuntu'/ });
});

t.test('a file that is no feed is refused, and the page of an invalid feed says what to do', async (t) => {
  const { store, root, feeds, bring } = await importing(t);
  const uploads = () => store.beside.records.unclaimedUploads.count();
  t.match(await feeds.whole(Buffer.alloc(0)), { status: 400, text: /The file is empty\. Choose another file/ });
  for (const other of ['words', '\u007fELF', 'x'.repeat(100_000)])
    t.match(await feeds.whole(Buffer.from(other)), { status: 400, text: /The file is no feed: it is no zip archive/ });
  t.match(await feeds.piece(Buffer.from('words'), 5, 0), { status: 400, text: /The file is no feed/ });
  t.match(await feeds.begin(2 ** 30 + 1), { status: 413 });
  t.equal(await uploads(), 0, 'nothing of them is stored');

  const member = (content: string): Buffer => tar([{ name: 'a.json', content }]);
  const broken = osvRecord({ ...advisory(1004), more: { id: 'no id' } });
  for (const [name, bytes, sentence] of [
    ['a truncated gzip', gzipSync(member('x'.repeat(9000))).subarray(0, 60), /cannot be read to its end/],
    ['a truncated zip', ubuntu(1001).subarray(0, 300), /no zip archive that can be read/],
    ['a transfer', member('{"larder": "a statement"}'), /a record has no valid id/],
    [
      'a feed of another ecosystem',
      zipped(osvRecord({ id: 'GHSA-1', fixes: { 'npm left-pad': '1' } })),
      /no advisories/,
    ],
    ['JSON that is none', Buffer.from('{"id": '), /is no JSON/],
    ['markup in a name', zip({ '<b class="markup">.json': '{' }), /<b class="markup">\.json' in the feed is no JSON/],
    ['an invalid entry', zipped(broken), /The feed is invalid: .*leave invalid entries out/],
  ] as const) {
    const page = await bring(Buffer.from(bytes));
    t.match(page, { status: 200, text: sentence }, name);
    t.match(page.text, / No feed was changed\./);
    t.notMatch(page.html, /<b class="markup"|<button>\s*Import\s*</);
  }
  t.same(await listFeeds(store), []);
  const mixed = zip({ 'a.json': JSON.stringify(osvRecord(advisory(1001))), 'b.json': JSON.stringify(broken) });
  const { address } = await bring(Buffer.from(mixed));
  const skipping = await openReady(root, `${address}?skip-invalid=yes`);
  t.match(skipping.text, /Invalid entries that are left out no feed 1 .*The first invalid entries/);
  t.match((await send(root, skipping)).text, 'The feed is imported.');

  const kev = await bring(Buffer.from(kevCatalog(['CVE-2026-1001'])));
  t.match(
    (await openReady(root, `${kev.address}?source=ubuntu`)).text,
    /is of the format osv\. Give this feed another name/,
  );
  const vex = vexDocument([{ vulnerability: 'CVE-2026-1', products: [{ '@id': 'pkg:snap/hello' }], status: 'fixed' }]);
  t.match((await bring(Buffer.from(vex))).text, 'Its statements settle findings');
});

const zipped = (record: unknown): Buffer => zip({ 'one.json': JSON.stringify(record) });

largeTest('a bomb of JSON or gzip is refused on the page', async (t) => {
  const { store, bring } = await importing(t);
  for (const [name, bytes, sentence] of [
    ['members', zip({ 'a.json': `[${'[],'.repeat(2_000_000)}[]]` }), /more than 3000000 members/],
    ['a long document', zip({ 'a.json': Buffer.alloc(33 << 20, ' ') }), /but at most 33554432 are read/],
  ] as const)
    t.match((await bring(Buffer.from(bytes))).text, sentence, name);
  t.same(await listFeeds(store), []);
});

t.test('the pieces of a large feed are sent once, and become one upload', async (t) => {
  const { store, root, feeds } = await importing(t);
  const advisories = Array.from({ length: 3 }, (_, number) => osvRecord(advisory(1001 + number)));
  const padded = `${JSON.stringify(advisories[0])}${' '.repeat(9 * 1024 * 1024)}`;
  const bytes = tar([
    { name: 'a.json', content: padded },
    { name: 'b.json', content: JSON.stringify(advisories[1]) },
  ]);
  const { piece: step = 0 } = await feeds.begin(bytes.length);
  t.match(await feeds.receive(bytes.length), { status: 404, text: /or the feed was received already/ });
  for (let offset = 0; offset < bytes.length; offset += step)
    t.match(await feeds.piece(Buffer.from(bytes.subarray(offset, offset + step)), bytes.length, offset), {
      status: 200,
    });
  t.match(await feeds.begin(bytes.length), { received: bytes.length });
  const { status, location } = await feeds.receive(bytes.length);
  t.equal(status, 303);
  t.equal(await store.beside.records.unclaimedUploads.count(), 1);
  const page = await openReady(root, location);
  t.match(page.text, /Entries no feed 2/);
  t.match((await send(root, page)).text, 'The feed is imported.');
});

t.test('only a store administrator imports feeds, and only their own uploads', async (t) => {
  const { store, root, feeds, bring } = await importing(t);
  const { address } = await bring(ubuntu(1001));
  t.match(await feeds.whole(ubuntu(1001), { headers: { cookie: '' } }), { status: 401 });
  t.match(await feeds.whole(ubuntu(1001), { headers: { 'sec-fetch-site': 'cross-site' } }), { status: 403 });
  const { acts } = store.beside;
  await acts.do(changeRole, itself, { id: store.ids.bob, role: 'auditor', remove: false });
  const auditor = await store.visit('bob');
  const list = await auditor.open(at);
  t.match(list.status, 200);
  t.notMatch(list.html, 'multipart', 'an auditor has no form');
  t.match(await auditor.open(address), { status: 403 });
  await acts.do(changeRole, itself, { id: store.ids.ada, role: 'store-admin', remove: false });
  const ada = await store.visit('ada');
  t.match(await ada.open(address), { status: 404 }, 'an upload of another administrator');
  const publisher = await store.as('ada');
  const pushed = await publisher.upload('{"id": "x"}');
  t.match(await root.open(`${at}/feeds/${pushed}`), { status: 404 }, 'an upload of a publisher');
  t.match(await root.open(address), { status: 200 });
});
