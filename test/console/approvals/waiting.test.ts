// Pending items: uploads, proposals, invites, offers and key requests; the readers of each, and the effect of its
// forms.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { changeRole } from '#acts/accounts/accounts.ts';
import { itself } from '#acts/act.ts';
import { textToSign } from '#acts/approvals/text-to-sign.ts';
import { addApproverKey } from '#acts/approvals/approver-keys.ts';
import { changeApprovalPolicy } from '#acts/approvals/proposals.ts';
import { nameSite } from '#acts/sites/sites.ts';
import { noPolicy, readReleaseRule } from '#domain/approvals/approval-policy.ts';
import { hours, seconds } from '#domain/clock.ts';
import { readSshKey } from '#domain/approvals/ssh-key.ts';
import { codeAt } from '#identity/credentials/totp.ts';
import { password } from '#test/identity/world.ts';
import { charm } from '#test/fixtures/packages/archives.ts';
import { snapFixture } from '#test/fixtures/appliance.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { squashfsImage } from '#test/fixtures/packages/squashfs-image.ts';
import { sshKeyPair, sshSigned } from '#test/fixtures/accounts/ssh-keys.ts';
import { folder } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { startConsole, type ConsoleStore, type Visitor } from '#test/console/world.ts';

type Test = Parameters<typeof startConsole>[0];

const waiting = '/console/waiting';

/** A store with uploads of snap/tiny-app that wait for root. */
async function reviewing(t: Test) {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  await larder(`package manual-review snap/tiny-app on --data ${store.directory}`);
  const push = async (fixture = 'app-xz'): Promise<string> => {
    const reply = await ada.push('snap', 'tiny-app', await snapFixture(fixture));
    return reply.body.revisions[0]['upload-id'] as string;
  };
  return { store, ada, push };
}

const counted = async (store: ConsoleStore, action: string): Promise<number> =>
  (await store.beside.records.audit.list(0, 10_000)).filter((row) => row.action === action).length;

t.test('an upload is seen by its publisher and reviewers, and approved once, by the first of them', async (t) => {
  const { store, ada, push } = await reviewing(t);
  const root = await store.visit('root');
  t.match(await root.open(waiting), { status: 200, text: /Nothing waits for you\..*No upload waits\./ });
  const id = await push();
  const address = `${waiting}/uploads/${id}`;
  const list = await root.open(waiting);
  t.match(list.text, /One thing waits for you: 1 upload\..*snap\/tiny-app ada .* Approve snap\/tiny-app/);
  const page = await root.open(address);
  t.match(page.text, /review found no problem.*snap\/tiny-app.*by ada.*SHA3-384 [0-9a-f]{96}/);
  t.match(page.text, /Contents .*Version .*Confinement strict/);
  t.match(page.html, /href="\/console\/packages\/snap\/tiny-app"/);

  t.equal((await store.visitor().open(address)).status, 401, 'nobody');
  const bob = await store.visit('bob');
  t.match(await bob.open(address), { status: 404, text: /There is no upload/ }, 'a stranger');
  t.notMatch((await bob.open(waiting)).text, /tiny-app/);
  const publisher = await store.visit('ada');
  t.match((await publisher.open(waiting)).text, /Your uploads under review .*snap\/tiny-app waits for a person/);
  const own = await publisher.open(address);
  t.match(own, { status: 200, text: /waits for a person/ });
  t.notMatch(own.text, /Your verdict/, 'who pushed it does not judge it');
  const forged = await publisher.send({ ...own, html: page.html }, `${address}/approve`);
  t.match(forged, { status: 403 });

  const other = await store.visit('root');
  const seen = await other.open(address);
  const [first, two] = await Promise.all([
    root.send(list, `${address}/approve`),
    other.send(seen, `${address}/approve`),
  ]);
  const messages = [first.text, two.text].sort((a, b) => Number(/was quicker/.test(a)) - Number(/was quicker/.test(b)));
  t.match(messages[0], /The upload is approved and has become a revision\./);
  t.match(messages[1], /Another person has already decided this.*The upload is approved as revision 1\./);
  t.equal(await counted(store, 'approve_upload'), 1, 'one act');
  t.match((await ada.get('/v1/snap/tiny-app/revisions')).body.revisions, [{ revision: 1 }]);
  t.match((await root.open(waiting)).text, /Nothing waits for you\./);
});

t.test('an upload is rejected with a reason, which its publisher sees as text', async (t) => {
  const { store, push } = await reviewing(t);
  const address = `${waiting}/uploads/${await push()}`;
  const root = await store.visit('root');
  const page = await root.open(address);
  t.match(await root.send(page, `${address}/reject`, { reason: '' }), { status: 400 });
  t.match(await root.send(page, `${address}/reject`, { reason: '   ' }), {
    status: 400,
    text: /A reason of 1 to 2000 characters/,
  });
  const reason = `<b>No</b> "pumps" & 'keys' javascript:alert(1)`;
  t.match(await root.send(page, `${address}/reject`, { reason }), {
    status: 200,
    address: `${address}?done=upload-rejected`,
    text: /Its publisher sees your reason.*The upload is rejected\. No revision was made/,
  });
  const ada = await store.visit('ada');
  const list = await ada.open(waiting);
  t.match(list.text, /Recently rejected Correct the problems listed here.*snap\/tiny-app/);
  for (const { html, text } of [list, await ada.open(address)]) {
    t.ok(text.includes(reason), 'it is told as it was typed');
    t.notOk(html.includes('<b>No'), 'as text');
  }
  t.match(await root.send(page, `${address}/reject`, { reason }), { text: /Another person has already decided this/ });
  t.equal(await counted(store, 'reject_upload'), 1);
});

t.test('an upload and its revision say which icon is not used, and why', async (t) => {
  const { store, ada } = await reviewing(t);
  const files = { 'meta/snap.yaml': "name: tiny-app\nversion: '1'\n", 'meta/gui/icon.svg': '<svg><script/></svg>' };
  const pushed = await ada.push('snap', 'tiny-app', squashfsImage(files));
  const id = pushed.body.revisions[0]['upload-id'] as string;
  const root = await store.visit('root');
  const notice = /meta\/gui\/icon\.svg is not used as the icon: as an SVG, it has an element 'script'\./;
  t.match((await root.open(`${waiting}/uploads/${id}`)).text, notice);
  await larder(`review approve ${id} --data ${store.directory}`);
  t.match((await root.open('/console/packages/snap/tiny-app/revisions/1')).text, notice);
});

t.test('an upload links to its component, and the review of the component may reject it', async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  const yaml = "name: tiny-app\nversion: '1'\ncomponents: {words: {type: standard}}\n";
  const upload = await ada.upload(squashfsImage({ 'meta/snap.yaml': yaml }));
  const words = await ada.upload('words');
  const followUp = { updown_id: upload, components: { words }, channels: ['edge'] };
  const sent = { name: 'tiny-app', series: '16', binary_filesize: 4096, source_uploaded: false };
  t.match(await ada.post('/dev/api/snap-push/', { ...sent, ...followUp }), { status: 202 });
  await store.appliance.reviewed();
  const visitor = await store.visit('root');
  const page = await visitor.open(`${waiting}/uploads/${upload}`);
  t.match(page.text, /release to edge Its component 'words' was not accepted/);
  t.match(page.text, /component words pushed for review/);
  t.match(page.html, `href="${waiting}/uploads/${words}"`);
  t.match((await visitor.open(`${waiting}/uploads/${words}`)).text, /The file is text, but a component is a squashfs/);
});

t.test('values of an upload are shown as text, with its requested interfaces', async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  await ada.post('/v1/charm', { name: 'juggler' });
  await larder(`package manual-review charm/juggler on --data ${store.directory}`);
  const metadata = `title: <script>alert("x")</script>\nresources:\n  config: {type: file, filename: c}\n`;
  const bytes = charm('juggler', {}, metadata);
  const pushed = await ada.push('charm', 'juggler', bytes);
  const id = pushed.body.revisions[0]['upload-id'] as string;
  await store.beside.records.change(
    { at: store.clock.now.toISOString(), actor: 'test', action: 'test', object: 'charm/juggler' },
    (tx) =>
      tx.afterReview.add({
        uploadId: id,
        kind: 'channel',
        name: 'edge/<i>',
        component: null,
        onlyIfNewer: false,
        wantedBy: store.ids.ada,
        sessionId: null,
        requestId: null,
      }),
  );
  const root = await store.visit('root');
  const page = await root.open(`${waiting}/uploads/${id}`);
  t.match(page.text, /After approval .*release to edge\/<i> follows the approval/);
  t.match(page.text, /Resources that it declares .*config file yes/);
  t.ok(page.text.includes('<script>alert("x")</script>'));
  t.notMatch(page.html, /<script>|<i>/);
});

t.test('the list continues after fifty, and stays short', async (t) => {
  const { store, ada, push } = await reviewing(t);
  await push();
  const packageId = (await ada.get('/v1/snap/tiny-app')).body.metadata.id as string;
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'test', object: 'uploads' }, async (tx) => {
    for (let number = 0; number < 50; number++) {
      const id = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
      const digest = number.toString(16);
      await tx.uploads.add({
        id,
        sha3_384: digest.padStart(96, '0'),
        sha256: digest.padStart(64, '0'),
        size: 1,
        address: '127.0.0.1',
        receivedAt: at,
      });
      await tx.uploads.claim(id, { packageId, pushedBy: store.ids.ada, pushedAt: at });
      await tx.uploads.scan(id, { kind: 'resource', sha384: '', sha512: '' });
    }
  });
  const root = await store.visit('root');
  const first = await root.open(waiting);
  t.match(first.text, /51 things wait for you: 51 uploads\./);
  t.equal(first.html.match(/\/approve"/g)?.length, 50);
  t.ok(first.html.length < 200 * 1024, `${String(first.html.length)} bytes`);
  const next = /href="([^"]+)" rel="next"/.exec(first.html)?.[1] ?? '';
  const second = await root.open(next);
  t.equal(second.html.match(/\/approve"/g)?.length, 1);
  t.match(await root.open(`${waiting}?uploads=nonsense`), { status: 400, text: /cursor does not belong/ });
});

/** ada publishes snap/hello; its channel stable waits for bob, a member of the role. */
async function asking(t: Test, people = '1') {
  const store = await startConsole(t);
  for (const username of ['carol', 'dave']) await store.join(username);
  const { acts } = store.beside;
  for (const [who, role] of [
    ['bob', 'transfer-approver'],
    ['carol', 'auditor'],
  ] as const)
    await acts.do(changeRole, itself, { id: store.ids[who] ?? '', role, remove: false });
  const rule = readReleaseRule(`${people} for snap/*:*/stable`);
  const bobs = sshKeyPair(folder(t), 'bob');
  await acts.do(addApproverKey, itself, { id: store.ids.bob, key: readSshKey(bobs.publicKey)?.line ?? '' });
  await acts.do(nameSite, itself, { name: 'site-b', keyId: 'k', sealedKey: 'sealed' });
  await acts.do(changeApprovalPolicy, itself, { ...noPolicy, releases: rule === undefined ? [] : [rule] });
  store.clock.advance(hours(73));
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const number of [1, 2]) await addRevision(store, id, number);
  const release = (revision: number) => ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision }]);
  /** Logs an account in with both factors, and returns the next code. */
  const withBoth = async (person: string): Promise<[Visitor, () => string]> => {
    await store.setPassword(person);
    const secret = await store.setTotp(person);
    const code = () => {
      store.clock.advance(seconds(60)); // each code is good once
      return codeAt(secret, Math.floor(store.clock.now.getTime() / seconds(30)));
    };
    const visitor = store.visitor();
    const { status } = await visitor.logIn(person, { code: code() });
    if (status !== 200) throw new Error(`cannot log ${person} in`);
    return [visitor, code];
  };
  return { store, ada, release, withBoth, bobs };
}

const proposal = `${waiting}/proposals/1`;
const judge = `${proposal}/judge`;

t.test('a proposal is approved with password and one-time password alone', async (t) => {
  const { store, release, withBoth } = await asking(t);
  t.equal((await release(1)).status, 403);
  const [bob, code] = await withBoth('bob');
  t.match((await bob.open(waiting)).text, /One thing waits for you: 1 proposal\..*0 of 1.*Approve or reject/);
  const page = await bob.open(proposal);
  t.match(page.text, /ada wants to make 1 change, which waits for 1 more approval\./);
  t.match(page.text, /snap\/hello:latest\/stable .*nothing 1 releases/);

  const approve = (fields: object) => bob.send(page, judge, { verdict: 'approve', ...fields });
  t.match(await approve({ password: '', code: '' }), { status: 400 }, 'a session alone approves of nothing');
  t.match(await approve({ password: 'a guess', code: code() }), { status: 403, text: /password is wrong/ });
  t.match(await approve({ password, code: '000000' }), { status: 403 });
  const nobody = await store.visit('dave');
  t.match(await nobody.open(proposal), { status: 404, text: /this account has no access to it/ });
  t.match((await nobody.open(waiting)).text, /Nothing waits for you\./);
  const [carol] = await withBoth('carol');
  const seen = await carol.open(proposal);
  t.match(seen, { status: 200, text: /The approval policy does not name you/ });
  t.notMatch(seen.html, /name="password"/);
  t.match((await carol.open(waiting)).text, /Nothing waits for you\..*The approval policy does not name you/);
  const [ada] = await withBoth('ada');
  t.match((await ada.open(waiting)).text, /Your proposals .*You proposed this change, so other people must approve it/);
  t.match((await ada.open(proposal)).text, /Take it back/);

  const both = code();
  const pages = await Promise.all([approve({ password, code: both }), approve({ password, code: both })]);
  t.equal(pages.filter(({ text }) => /You approved the proposal\. It has enough approvals now/.test(text)).length, 1);
  t.equal(await counted(store, 'approve_proposal'), 1, 'one act');
  t.equal((await release(1)).status, 200);
  t.match((await bob.open(proposal)).text, /The changes were carried out\./);
});

t.test('proposals continue after fifty, for their approvers', async (t) => {
  const { store, ada, release, withBoth } = await asking(t);
  const { id } = (await ada.get('/v1/snap/hello')).body.metadata as { id: string };
  for (let number = 3; number <= 51; number++) await addRevision(store, id, number);
  for (let number = 1; number <= 51; number++) t.equal((await release(number)).status, 403);
  const numbersOn = ({ html }: { html: string }): number[] =>
    [...html.matchAll(/href="\/console\/waiting\/proposals\/(\d+)">\d+:/g)].map(([, number]) => Number(number));
  const nextOf = ({ html }: { html: string }): string => /href="([^"]+)" rel="next"/.exec(html)?.[1] ?? '';

  const [bob] = await withBoth('bob');
  const first = await bob.open(waiting);
  t.match(first.text, /50 things wait for you: 50 proposals\. There may be more proposals on the next page\./);
  t.same(
    numbersOn(first),
    Array.from({ length: 50 }, (_, at) => at + 1),
    'the oldest first',
  );
  t.ok(first.html.length < 200 * 1024, `${String(first.html.length)} bytes`);
  const second = await bob.open(nextOf(first));
  t.match(second.text, /One thing waits for you: 1 proposal\./);
  t.same(numbersOn(second), [51]);
  t.equal(nextOf(second), '', 'and that is all');
  const last = await bob.open(`${waiting}/proposals/51`);
  t.match(last.text, /snap\/hello:latest\/stable .*nothing 51 releases/, 'it is judged like the others');

  const hers = await (await store.visit('ada')).open(waiting);
  t.match(hers.text, /Nothing waits for you\..*Your proposals/);
  t.same(numbersOn(hers).length, 50);
  const nobody = await store.visit('dave');
  t.same(numbersOn(await nobody.open(waiting)), []);
  t.same(numbersOn(await nobody.open(nextOf(first))), [], 'nor on any other page');
  t.match(await bob.open(`${waiting}?proposals=nonsense`), { status: 400, text: /cursor does not belong/ });
});

t.test('a proposal that the policy wants signed takes a signature as a browser sends it', async (t) => {
  const { store, release, withBoth, bobs } = await asking(t, '1 signed');
  await release(1);
  const [bob, code] = await withBoth('bob');
  const page = await bob.open(proposal);
  t.match(page.text, /Your signature, if the policy requires it .*larder approval show 1 --for-signing FILE/);
  const approve = (fields: object) => bob.send(page, judge, { verdict: 'approve', password, code: code(), ...fields });
  t.match(await approve({ signature: ' ' }), { status: 403, text: /The policy requires your signature/ });
  const file = join(folder(t), 'text');
  const { records } = store.beside;
  writeFileSync(file, await textToSign(records, (await records.proposals.find(1))!));
  const signature = sshSigned(bobs, file).replaceAll('\n', '\r\n');
  t.match(await approve({ signature }), {
    status: 200,
    text: /You approved the proposal\. It has enough approvals now/,
  });
  t.match((await bob.open(proposal)).text, /SHA256:\S{43}/);
  t.equal((await release(1)).status, 200);
});

t.test('a proposal is rejected with a reason', async (t) => {
  const { store, release, withBoth } = await asking(t);
  await release(1);
  const [bob, code] = await withBoth('bob');
  const page = await bob.open(proposal);
  const reject = (reason: string) => bob.send(page, judge, { verdict: 'reject', password, code: code(), reason });
  t.match(await reject(' '), { status: 400, text: /Enter a reason for the rejection/ });
  t.match((await reject('It <em>crashes</em> on "pumps".')).text, /The proposal is rejected\./);
  const proposalPage = await bob.open(proposal);
  t.match(proposalPage.text, /bob rejected it: It <em>crashes<\/em> on "pumps"\./);
  t.notMatch(proposalPage.html, /<em>/);
  t.match(await reject('Again.'), { status: 409, text: /rejected already/ });
  t.equal((await release(1)).status, 403);
  t.equal(await counted(store, 'reject_proposal'), 1);
  t.match(await bob.open(`${waiting}/proposals/none`), { status: 404 });
});

t.test('an approver without one-time passwords is told so, and a proposal lapses if its object changes', async (t) => {
  const { store, release, withBoth } = await asking(t);
  await release(1);
  const plain = await store.visit('bob');
  t.match((await plain.open(proposal)).text, /needs a one-time password, and your account does not have one yet/);
  const [bob, code] = await withBoth('bob');
  const page = await bob.open(proposal);
  const at = store.clock.now.toISOString();
  const id = (await (await store.as('ada')).get('/v1/snap/hello')).body.metadata.id as string;
  await store.beside.records.change({ at, actor: 'test', action: 'test', object: 'snap/hello' }, (tx) =>
    filler(tx, at).release({ packageId: id, channel: 'latest/stable', slot: 'all', revision: 2 }),
  );
  const fell = await bob.send(page, judge, { verdict: 'approve', password, code: code() });
  t.match(fell.text, /The proposal is no longer valid, because its object has changed since then/);
});

t.test('invites and offers are answered in the list, once, by the invited account', async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  for (const name of ['hello', 'other', 'third', 'fourth']) await ada.post('/v1/bin', { name });
  const email = 'bob@example.com';
  for (const name of ['hello', 'other'])
    await ada.post(`/v1/bin/${name}/collaborators/invites`, { invites: [{ email }] });
  for (const name of ['third', 'fourth']) await ada.post(`/internal/v1/packages/bin/${name}/offer`, { email });
  const bob = await store.visit('bob');
  const list = await bob.open(waiting);
  t.match(list.text, /4 things wait for you: 2 invites and 2 offered packages\./);
  t.match((await (await store.visit('ada')).open(waiting)).text, /Nothing waits for you/);

  const answer = (action: string, yes: string) => bob.send(list, `${waiting}/${action}`, { answer: yes });
  t.match((await answer('invites/bin/hello', 'yes')).text, /You collaborate on the package now/);
  t.match(await answer('invites/bin/hello', 'yes'), { status: 400, text: /no invite/ }, 'once');
  t.match((await answer('invites/bin/other', 'no')).text, /You have declined the invite/);
  t.match((await answer('offers/bin/third', 'yes')).text, /You are now the publisher of the package/);
  t.match((await answer('offers/bin/fourth', 'no')).text, /The package stays with its publisher/);
  t.match((await bob.open(waiting)).text, /Nothing waits for you/);
  const { body } = await ada.get('/v1/bin/hello/collaborators');
  t.match(body.collaborators, [{ account: { username: 'bob' } }]);
  t.equal((await ada.get('/v1/bin/third')).status, 404, 'ada has it no more');
  t.equal((await ada.get('/v1/bin/fourth')).status, 200);

  const page = await (await store.visit('root')).open(waiting);
  t.match(page, { status: 200 });
});
