// Transfers are uploaded in the browser: as a whole, and in pieces that a script sends.
import { readFileSync } from 'node:fs';

import t from 'tap';

import { changeRole } from '#acts/accounts/accounts.ts';
import { itself } from '#acts/act.ts';
import { hours } from '#domain/clock.ts';
import { forgetUploads } from '#jobs/uploads/forget-uploads.ts';
import { blobsBeside } from '#test/fixtures/contents.ts';
import type { ConsoleStore } from '#test/console/world.ts';
import { done, receiving } from './carrying.ts';
import { carry, sender } from './sending.ts';

t.setTimeout(600_000);

async function uploading(t: Parameters<typeof receiving>[0], configure?: Parameters<typeof receiving>[1]) {
  const made = await receiving(t, configure);
  const root = await made.store.visit('root');
  return { ...made, root, ...sender(made.store, root, await root.open(carry)) };
}

const uploadCount = async (store: ConsoleStore): Promise<number> => store.beside.records.unclaimedUploads.count();
const receiptsOf = async (store: ConsoleStore) =>
  (await store.beside.records.audit.list(0, 10_000)).filter(({ action }) => action === 'receive_transfer');

/** The bytes of a file, with others behind them: a file of several pieces that is no transfer. */
const longer = (bytes: Buffer, size: number) => Buffer.concat([bytes, Buffer.alloc(size - bytes.length, 7)]);

t.test('a transfer is uploaded without a script, as if a command had received it', async (t) => {
  const { store, root, gather, whole } = await uploading(t);
  const { file, id } = await gather(12);
  const bytes = readFileSync(file);
  const { status, location } = await whole(bytes);
  t.match({ status, location }, { status: 303, location: `${carry}/transfers/${id}?done=transfer-received` });
  t.match((await root.open(location)).text, /The transfer is received\..*snap\/hello-on 4 changes .*Accept/);
  const [row] = await receiptsOf(store);
  t.strictSame([row?.actor, row?.object], [store.ids.root, `transfer/${id}`]);
  t.type(row?.requestId, 'string', 'with its request');
  t.equal(await uploadCount(store), 0, 'the uploaded file is removed');
  t.equal((await whole(bytes)).location, location, 'the same file again');
  t.equal((await receiptsOf(store)).length, 1, 'changes nothing');
  const accepted = await root.send(await root.open(location), `${carry}/transfers/${id}/accept`);
  t.match(accepted.text, /The transfer is accepted\./);
});

t.test('a file that is no transfer is refused, and nothing of it stays', async (t) => {
  const { store, gather, whole, begin, piece, receive } = await uploading(t);
  const { file } = await gather(12);
  const bytes = readFileSync(file);
  const blobs = await blobsBeside(t, store);
  const stored = async () => (await Array.fromAsync(blobs.list())).length;
  const before = await stored();
  for (const other of ['', 'x', 'larder/statement.json', 'x'.repeat(100_000)]) {
    const reply = await whole(Buffer.from(other));
    t.match(reply, { status: 400, text: /The file is not a transfer\. Choose a file/ }, other.slice(0, 30));
  }
  t.match(await piece(Buffer.from('x'.repeat(50)), 50, 0), { status: 400, text: /is not a transfer/ });
  t.equal(await stored(), before, 'nothing was stored');
  t.match(await whole(longer(bytes, bytes.length + 1)), { status: 400, text: /It has data after its end/ });
  t.match(await whole(bytes.subarray(0, -1)), { status: 400, text: /It is truncated/ });
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(700) ^ 1, 700);
  t.match(await whole(changed), { status: 400 }, 'a changed statement');
  t.match(await piece(changed, changed.length, 0), { status: 200 });
  t.match(await receive(changed.length), { status: 400 });
  t.match(await begin(changed.length), { status: 200, received: 0 }, 'its pieces are removed');
  t.equal(await uploadCount(store), 0);
  t.equal((await receiptsOf(store)).length, 0);
});

t.test('the pieces of a file are sent once, and the upload resumes behind them', async (t) => {
  const { store, root, gather, begin, piece, receive } = await uploading(t);
  const { file, id } = await gather(12);
  const bytes = readFileSync(file);
  const size = bytes.length;
  t.match(await begin(size), { status: 200, piece: 8 * 1024 * 1024, received: 0 });
  t.match(await receive(size), { status: 404, text: /Some pieces of the file are not here/ });
  const twice = await Promise.all([piece(bytes, size, 0), piece(bytes, size, 0)]);
  t.same(
    twice.map(({ status }) => status),
    [200, 200],
    'two tabs send the same piece',
  );
  t.equal(await uploadCount(store), 1);
  t.match(await begin(size), { received: size });
  const other = await store.visit('root');
  const again = sender(store, other, await other.open(carry));
  t.match(await again.begin(size), { received: size }, 'another browser of the account continues it');
  const both = await Promise.all([receive(size), again.receive(size)]);
  t.ok(
    both.some(({ location }) => location.startsWith(`${carry}/transfers/${id}?`)),
    'one of them receives it',
  );
  t.equal((await receiptsOf(store)).length, 1);
  t.equal(await uploadCount(store), 0);
  t.match((await root.open(`${carry}/transfers/${id}`)).text, /waits for a decision/);
});

t.test('a piece at a wrong place, of a wrong length, or of a file that is too large is refused', async (t) => {
  const { store, begin, piece, receive, whole, gather } = await uploading(t, (text) =>
    text.replace(/^# ?max_size = .*$/m, 'max_size = "20 MiB"'),
  );
  const bytes = readFileSync((await gather(12)).file);
  const size = 9 * 1024 * 1024;
  const first = longer(bytes, 8 * 1024 * 1024);
  t.match(await begin(20 * 1024 * 1024 + 1), { status: 413 });
  t.match(await begin(0), { status: 400 });
  t.match(await whole(longer(bytes, 20 * 1024 * 1024 + 1)), { status: 413 });
  t.match(await piece(first, size, 1), { status: 400, text: /The pieces of this file have 8388608 bytes each/ });
  t.match(await piece(first, size, 16 * 1024 * 1024), { status: 400 });
  t.match(await piece(first.subarray(0, -1), size, 0), { status: 400, text: /8388607 bytes of 8388608/ });
  t.match(await piece(longer(first, first.length + 1), size, 0), { status: 413 });
  t.match(await piece(first, size, 0, '../../etc'), { status: 400 });
  t.equal(await uploadCount(store), 0);
  t.match(await piece(Buffer.alloc(size - first.length, 1), size, first.length), { status: 200 }, 'the last one first');
  t.match(await begin(size), { received: 0 });
  t.match(await piece(first, size, 0), { status: 200 });
  t.match(await begin(size), { received: size });
  t.match(await receive(size), { status: 400, text: /It has data after its end/ }, 'read across its pieces');
  t.equal(await uploadCount(store), 0);
});

t.test('only a store administrator at our page uploads transfers', async (t) => {
  const { store, gather, whole, piece } = await uploading(t);
  const bytes = readFileSync((await gather(12)).file);
  t.match(await whole(bytes, { headers: { cookie: '' } }), { status: 401 });
  t.match(await whole(bytes, { headers: { 'sec-fetch-site': 'cross-site' } }), { status: 403 });
  t.match(await whole(bytes, { headers: { 'sec-fetch-site': '', origin: 'https://evil.example' } }), { status: 403 });
  t.match(await whole(bytes, { fields: { 'form-token': 'x'.repeat(43) } }), { status: 403 });
  await store.beside.acts.do(changeRole, itself, { id: store.ids.bob, role: 'transfer-approver', remove: false });
  const bob = await store.visit('bob');
  const page = await bob.open(carry);
  t.notMatch(page.html, 'multipart', 'an approver has no form');
  t.match(await sender(store, bob, page).whole(bytes), { status: 403 });
  const admin = await store.visit('root');
  const forged = sender(store, bob, await admin.open(carry));
  t.match(await forged.piece(bytes, bytes.length, 0), { status: 403 });
  t.equal(await uploadCount(store), 0);
  t.match(await piece(bytes, bytes.length, 0), { status: 200 });
});

t.test('a transfer that is refused for a reason that can be mended stays uploaded, and expires', async (t) => {
  const { store, gather, piece, begin, receive } = await uploading(t);
  const { file, id } = await gather(12);
  const bytes = readFileSync(file);
  await done(`site distrust desk --yes --data ${store.directory}`);
  t.match(await piece(bytes, bytes.length, 0), { status: 200 });
  t.match(await receive(bytes.length), { status: 409, text: /this site does not trust that source/ });
  t.match(await begin(bytes.length), { received: bytes.length });
  const blobs = await blobsBeside(t, store);
  store.clock.advance(hours(73));
  await forgetUploads(
    store.beside.records,
    blobs,
    () => store.clock.now,
    () => 72,
  ).run();
  t.equal(await uploadCount(store), 0, 'after 72 hours');
  t.equal(await store.beside.records.transfers.find(id), undefined);
});

t.test('the parts of a transfer are uploaded one after the other', async (t) => {
  const { root, gatherLarge, whole, begin, piece, receive } = await uploading(t);
  const { files, id } = await gatherLarge(12 * 1024 * 1024, true);
  t.equal(files.length, 2);
  const [first, second] = files.map((file) => readFileSync(file));
  const { location } = await whole(first!);
  t.match((await root.open(location)).text, /A part of the transfer is received\. Upload the other parts/);
  t.match(await piece(second!, second!.length, 0), { status: 200 });
  t.match(await receive(second!.length), { status: 303 });
  t.match((await root.open(`${carry}/transfers/${id}`)).text, /snap\/large-on .*Accept/);
  const whole17 = readFileSync((await gatherLarge(17 * 1024 * 1024)).files[0]!);
  const { piece: step = 0 } = await begin(whole17.length, 'b'.repeat(32));
  for (let at = 0; at < whole17.length; at += step)
    t.match(await piece(whole17.subarray(at, at + step), whole17.length, at, 'b'.repeat(32)), { status: 200 });
  t.match(await receive(whole17.length, 'b'.repeat(32)), { status: 303 }, 'contents that are cut by pieces');
});
