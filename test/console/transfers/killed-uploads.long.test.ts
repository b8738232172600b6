// A server is killed while a browser uploads a transfer: the upload resumes after the restart, and nothing of it is lost.
import { request } from 'node:http';
import { readFileSync } from 'node:fs';

import t, { type Test } from 'tap';

import { newStore, serve, type Serving } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { browse, type Visitor } from '#test/console/world.ts';
import { halfReceived } from '#test/fixtures/contents.ts';
import { kill } from '#test/fixtures/processes/kill.ts';
import { until } from '#test/fixtures/until.ts';
import { password } from '#test/identity/world.ts';
import { trustCollector } from './carrying.ts';
import { carry, inForm, sender, uploads } from './sending.ts';

t.setTimeout(600_000);

const MiB = 1024 * 1024;
const name = 'a'.repeat(32);

/** A browser of an administrator, with the form of the page. */
async function openForm({ url }: Serving, cookie?: string) {
  const visitor = browse(url);
  if (cookie === undefined) await visitor.logIn('ada');
  else visitor.cookie = cookie;
  const page = await visitor.open(carry);
  if (page.status !== 200) throw new Error(`cannot open the page: ${String(page.status)} ${page.text}`);
  return { visitor, page, ...sender({ url }, visitor, page) };
}

/** Sends the first half of a piece, and leaves the connection open. */
function sendHalf(url: string, { cookie }: Visitor, token: string, piece: { bytes: Buffer; size: number; at: number }) {
  const boundary = 'x'.repeat(30);
  const field = (disposition: string, value: string): string =>
    `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n${value}`;
  const start = Buffer.from(`${field('name="form-token"', token)}\r\n${field('name="file"; filename="in.tar"', '')}`);
  const end = Buffer.from(`\r\n--${boundary}--\r\n`);
  const sent = request(`${url}${uploads}/piece?upload=${name}&size=${String(piece.size)}&offset=${String(piece.at)}`, {
    method: 'POST',
    headers: {
      cookie,
      'sec-fetch-site': 'same-origin',
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': start.length + piece.bytes.length + end.length,
    },
  });
  // The kill resets the connection.
  sent.on('error', () => undefined);
  sent.write(start);
  sent.write(piece.bytes.subarray(0, piece.bytes.length / 2));
}

async function newAdministrator(t: Test) {
  const store = await newStore(t);
  await store.json('account create --id ada --email ada@example.org --username ada --display-name Ada');
  await store.json('account role ada store-admin');
  const env = { LARDER_DATA: store.data };
  const { code, err } = await larder('account password ada --password-stdin', { env, stdin: [`${password}\n`] });
  if (code !== 0) throw new Error(err);
  return { ...store, ...(await trustCollector(t, store.data)) };
}

t.test(
  'an upload of pieces resumes after the server was killed within a piece, and while it was received',
  async (t) => {
    const { data, json, gatherLarge } = await newAdministrator(t);
    const { files, id } = await gatherLarge(17 * MiB);
    const bytes = readFileSync(files[0]!);
    const size = bytes.length;

    const first = await serve(t, data);
    const { visitor, page, begin, piece } = await openForm(first);
    const { piece: step = 0 } = await begin(size);
    t.match(await piece(bytes.subarray(0, step), size, 0), { status: 200 });
    sendHalf(first.url, visitor, inForm(page, 'data-piece-token'), {
      bytes: bytes.subarray(step, 2 * step),
      size,
      at: step,
    });
    await until(() => halfReceived(data).length > 0);
    await kill(first.child);

    const second = await serve(t, data);
    t.same(halfReceived(data), [], 'the half of the piece is removed');
    const again = await openForm(second, visitor.cookie);
    t.match(await again.begin(size), { received: step }, 'the whole piece stayed');
    for (let at = step; at < size; at += step)
      t.match(await again.piece(bytes.subarray(at, at + step), size, at), { status: 200 });
    // The answer may come before the kill; then the second request finds the transfer received.
    const receiving = again.receive(size).catch(() => undefined);
    await until(async () => halfReceived(data).length > 0 || (await json(`transfer list`)).transfers.length > 0);
    await kill(second.child);
    await receiving;

    const third = await serve(t, data);
    const last = await openForm(third, visitor.cookie);
    const { received } = await last.begin(size);
    if (received === size) t.match(await last.receive(size), { status: 303 });
    t.match(await json('transfer list'), { transfers: [{ id }] });
    t.match(await last.begin(size), { received: 0 }, 'the pieces are removed');
    t.match(await json(`transfer accept ${id} --yes`), {});
    t.match(await json('status snap/large-on'), { channels: [{ channel: 'latest/stable' }] });
    t.match(await json('verify'), { good: true }, 'every content is whole');
  },
);
