// The administrator's guide, read and typed at a store without TLS: its lines do what they say, and its links lead somewhere.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { guides } from '#api/documents/guides.ts';
import { readConfig } from '#src/config.ts';
import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { newStore } from './process.ts';
import { larder } from './world.ts';

const guide = readFileSync(join(import.meta.dirname, '../../src/api/documents/guides/administrator.html'), 'utf8');

/** The lines of the block that begins with a line. */
function blockFrom(first: string): string[] {
  const block = [...guide.matchAll(/<pre><code>([^<]*)<\/code><\/pre>/g)].find(([, text = '']) =>
    text.startsWith(first),
  );
  if (block?.[1] === undefined) throw new Error(`the guide has no block that begins with '${first}'`);
  return block[1].split('\n');
}

t.test('the lines about monitoring hosts let these read the metrics', async (t) => {
  // Not served: the command sends SIGHUP to the process that serves, which would be this one.
  const { data } = await newStore(t);
  const answers: string[] = [];
  for (const line of blockFrom('larder config set http.monitors')) {
    const { code, out, err } = await larder(`${line.slice('larder '.length)} --data ${data}`);
    t.equal(code, 0, `${line}: ${err}`);
    answers.push(out);
  }
  const { http } = readConfig(join(data, 'larder.toml'));
  t.strictSame(http.monitors, ['10.0.0.5', '10.0.1.0/24']);
  t.match(answers.at(-1), /10\.0\.0\.5.*10\.0\.1\.0\/24/);
});

t.test('the lines about manual review make an upload wait, and approve it', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  let [upload, pushed] = ['', 0];
  for (const line of blockFrom('larder package manual-review')) {
    const typed = line.replace('larder ', '').replace('snap/hello', 'snap/tiny-app').replace('UPLOAD', upload);
    const { code, out, err } = await larder(`${typed} --data ${store.directory}`);
    t.equal(code, 0, `${line}: ${err}`);
    if (line.endsWith(' on')) {
      const [review] = (await ada.push('snap', 'tiny-app', await snapFixture('app-xz'))).body.revisions;
      t.match(review, { status: 'scanned', revision: null }, 'it waits');
      upload = review['upload-id'] as string;
    }
    if (line.endsWith('review list')) t.match(out, upload, 'it is listed');
    if (line.includes('approve')) {
      pushed = (await ada.get('/v1/snap/tiny-app/revisions')).body.revisions.length as number;
      t.equal(pushed, 1, 'it is a revision now');
    }
  }
  t.equal(pushed, 1);
  t.match((await ada.push('snap', 'tiny-app', await snapFixture('app-zstd'))).body.revisions, [{ revision: 2 }]);
});

t.test('no guide links to an address that a store without TLS does not have', async (t) => {
  const store = await startStore(t);
  t.equal((await store.anyone.get('/ca.pem')).status, 404, 'such as the authority of its certificate');
  const links = new Map<string, string>();
  for (const name of Object.keys(guides)) {
    const page = `/docs/${name}`;
    const { status, body } = await store.anyone.get(page);
    t.equal(status, 200, page);
    for (const [, href = ''] of String(body).matchAll(/<a\s[^>]*?href="([^"#]+)/g)) {
      const { origin, pathname } = new URL(href, `${store.url}${page}`);
      if (origin === store.url) links.set(pathname, page);
    }
  }
  t.ok(links.size > 10, 'there are links');
  for (const [path, page] of links) t.not((await store.anyone.get(path)).status, 404, `${page} links to ${path}`);
});
