// Finding one's way in the documents: the list of contents on a long page, and the search, both without a script.
import fc from 'fast-check';
import t from 'tap';

import { partsOf } from '#documents/contents.ts';
import { guides } from '#documents/guides.ts';
import { createSearch } from '#documents/search.ts';
import { html, type Html } from '#http/pages/html.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { cpuWatch } from '#test/fixtures/cpu.ts';
import { asRead } from '#test/fixtures/clients/html.ts';

let store: TestAppliance;
t.before(async () => (store = await startStore(t)));

async function read(path: string): Promise<string> {
  const { status, body } = await store.anyone.get(path);
  if (status !== 200) throw new Error(`${path}: ${String(status)}`);
  return body as string;
}

/** The results of a search: the address of each, its heading, and the text below it. */
async function find(query: string): Promise<{ address: string; heading: string; excerpt: string }[]> {
  const page = await read(`/docs/search?q=${encodeURIComponent(query)}`);
  const places = [...page.matchAll(/<li>\s*<h2><a href="([^"]*)">([^]*?)<\/a><\/h2>([^]*?)<\/li>/g)];
  return places.map(([, address = '', heading = '', excerpt = '']) => ({
    address,
    heading: asRead(heading.replace(/<[^>]*>/g, '')),
    excerpt,
  }));
}

t.test('a long page begins with the list of its headings, and each heading has an address', async (t) => {
  for (const path of ['administrator', 'operations', 'operations-releases', 'shapes', 'shapes-releases', 'audit']) {
    const page = await read(`/docs/${path}`);
    const main = page.slice(page.indexOf('<main'));
    const headings = [...main.matchAll(/<h2(?: id="([\w-]+)")?[ >]/g)].map(([, id]) => id);
    const [, list = ''] = /<nav class="contents \w+" aria-label="On this page">([^]*?)<\/nav>/.exec(main) ?? [];
    const listed = [...list.matchAll(/href="#([\w-]+)"/g)].map(([, id]) => id);
    t.ok(headings.length > 3, path);
    t.same(listed, headings, `${path}: all of them, in their order`);
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    t.equal(new Set(ids).size, ids.length, `${path}: no two things have one address`);
    t.ok(main.indexOf('"contents') < main.indexOf('<h2'), path);
  }
  t.notMatch(await read('/docs/device-gateway'), '"contents', 'a short page needs none');
});

t.test('a search for a name leads to its definition', async (t) => {
  const first = async (query: string): Promise<string | undefined> => (await find(query))[0]?.address;
  t.equal(await first('push_releases'), '/docs/operations-releases#push_releases');
  t.equal(await first('resource-not-found'), '/docs/errors#resource-not-found');
  t.equal(await first('package-view-metrics'), '/docs/permissions#package-view-metrics');
  t.equal(await first('set_account_totp'), '/docs/audit#set-account-totp');
  t.equal(await first('account totp'), '/docs/audit#set-account-totp', 'a former word of the audit log');
  t.equal(await first('ListReleasesResponse'), '/docs/shapes-releases#ListReleasesResponse');
  t.equal(await first('listreleasesresponse'), '/docs/shapes-releases#ListReleasesResponse', 'in small letters too');
  t.equal(await first('  disk   died '), '/docs/recovery#the-disk-died-or-the-machine-is-gone');
  for (const { address } of await find('macaroon')) {
    const [path = '', id] = address.split('#');
    t.ok(id === undefined || (await read(path)).includes(` id="${id}"`), address);
  }
});

t.test('matches are marked in the text, and typed markup stays text', async (t) => {
  const [hit] = await find('disk DIED');
  t.equal(hit?.heading, 'The disk died, or the machine is gone');
  const page = await read('/docs/search?q=disk+DIED');
  t.match(page, 'The <mark>disk</mark> <mark>died</mark>, or');
  t.match(page, 'value="disk DIED"', 'what was typed is there to be changed');
  const hostile = `"><script>alert(1)</script>'&`;
  const shown = await read(`/docs/search?q=${encodeURIComponent(hostile)}`);
  t.notMatch(shown, '<script');
  t.match(shown, 'value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;"');
  t.match(shown, 'No section of the documents contains all of these words.');
  for (const query of ['.', '\\', '(', '[a', '{', '|', '$', '*', '^']) {
    const marks = [...(await read(`/docs/search?q=${encodeURIComponent(query)}`)).matchAll(/<mark>(.*?)<\/mark>/g)];
    t.ok(marks.length > 0, query);
    t.same(new Set(marks.map(([, mark = '']) => asRead(mark).toLowerCase())), new Set([query]), 'signs are signs');
  }
});

t.test('a task is answered by a guide first, also in other words than the guide has', async (t) => {
  for (const query of ['revoke token', 'roll back', 'token stolen', 'wrong revision']) {
    const page = await read(`/docs/search?q=${encodeURIComponent(query)}`);
    const [, first = ''] = /<ol class="found">[^]*?<a href="\/docs\/([a-z-]+)/.exec(page) ?? [];
    t.ok(Object.hasOwn(guides, first), `${query}: ${first}`);
  }
});

t.test('a search is bounded, and is a page like the others', async (t) => {
  t.equal((await find('e')).length, 50);
  t.match(await read('/docs/search?q=e'), /The best 50 of \d{3,} matching sections/);
  t.match(await store.anyone.get(`/docs/search?q=${'x'.repeat(100)}`), { status: 200 });
  t.match(await store.anyone.get(`/docs/search?q=${'x'.repeat(101)}`), { status: 400 });
  for (const path of ['/docs/search', '/docs/search?q=', '/docs/search?q=+']) {
    t.match(await read(path), /<h1>Search<\/h1>\s*<p>\s*Search for the name/, path);
  }
  const reply = await store.anyone.get('/docs/search?q=release');
  t.match(reply.headers.get('content-security-policy'), /default-src 'none';.*form-action 'self'/);
  t.equal(
    reply.headers.get('content-security-policy'),
    (await store.anyone.get('/docs/')).headers.get('content-security-policy'),
  );
  t.match(reply.headers.get('content-type'), /^text\/html/);
  t.match(reply.body, '<form role="search" action="/docs/search#content">');
  t.match(reply.body, 'maxlength="100"');
});

const chapter = (name: string, content: Html) => ({ name, title: name.toUpperCase(), content });

t.test('an exact name comes first, and pages that mention it follow', (t) => {
  let gathered = 0;
  const search = createSearch(() => {
    gathered += 1;
    return [
      chapter(
        'one',
        html`<p>A pear.</p>
          <h2 id="a">Apples and pears</h2>
          <p>They grow, one &amp; all.</p>`,
      ),
      chapter(
        'two',
        html`<h2 id="b">Pear</h2>
          <table>
            <tbody>
              <tr id="c">
                <th scope="row">quince</th>
                <td>A pear, a pear</td>
              </tr>
            </tbody>
          </table>`,
      ),
    ];
  });
  t.equal(gathered, 0, 'nothing is gathered before somebody asks');
  t.same(
    search('PEAR').places.map(({ address }) => address),
    ['/docs/two#b', '/docs/one#a', '/docs/two#c', '/docs/one'],
  );
  const [hit] = search('quince').places;
  t.match(hit, { where: 'TWO › Pear', heading: [{ text: 'quince', isFound: true }] });
  t.match(search('& all').places, [{ address: '/docs/one#a' }]);
  t.same(search('apples quince'), { total: 0, places: [] }, 'all of the words stand in one part');
  t.same(search(' '), { total: 0, places: [] });
  t.equal(gathered, 1);
  t.end();
});

t.test('for any search, the results match the page, in a bounded time', (t) => {
  const words = fc.constantFrom('<', '&amp;', 'pear', 'Pear', 'é', '𝄞', '"', '.', '*', 'x'.repeat(300), ' ');
  const texts = fc.array(words, { maxLength: 60 }).map((some) => some.join(' '));
  const query = fc.string({
    unit: fc.constantFrom('p', 'e', 'a', 'r', ' ', '<', '&', '*', '𝄞', '\\', 'x'),
    maxLength: 50,
  });
  fc.assert(
    fc.property(texts, query, (text, looked) => {
      const content = html`<h2 id="it">It</h2>
        <p>${text}</p>`;
      const { places } = createSearch(() => [chapter('page', content)])(looked);
      const pageText = partsOf(content).at(-1)!.text;
      for (const { excerpt } of places) {
        const shown = excerpt.map((piece) => piece.text).join('');
        if (!pageText.includes(shown.replace(/^… | …$/g, ''))) throw new Error(shown);
        if (shown.length > 250) throw new Error(`${String(shown.length)} characters`);
      }
    }),
  );
  const long = html`<h2 id="it">It</h2>
    <p>${'aaaa bbbb '.repeat(200_000)}</p>`;
  const search = createSearch(() => [chapter('page', long)]);
  search('a');
  const cpu = cpuWatch();
  t.equal(search(`${'a'.repeat(49)} ${'b'.repeat(50)}`).total, 0);
  t.equal(search('a b aa bb aaa bbb aaaa bbbb').total, 1);
  t.ok(cpu() < 2000, 'two megabytes');
  t.end();
});
