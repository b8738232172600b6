// Lists in the order of their columns: by the links in the headings, over all pages, there and back.
import t from 'tap';

import { hours } from '#domain/clock.ts';
import type { startIdentity } from '#test/identity/world.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { until } from '#test/fixtures/until.ts';
import { startConsole, textOf, type ConsoleStore, type Page, type Visitor } from '#test/console/world.ts';

type Test = Parameters<typeof startIdentity>[0];

/** The number of rows for each list, beside the existing ones: more than a page. */
const many = 53;
const numbered = (at: number): string => String(at).padStart(2, '0');
const entry = { at: '2026-03-01T12:00:00.000Z', actor: 'test', action: 'grow', object: 'x' };

/** A store with every list longer than a page, and no two columns of a list in the same order. */
async function full(t: Test): Promise<{ store: ConsoleStore; root: Visitor }> {
  const store = await startConsole(t, (text) =>
    text.replace('# snap = false', 'snap = true').replace('# remember = false', 'remember = true'),
  );
  const ada = await store.as('ada');
  const hello = ((await ada.post('/v1/snap', { name: 'hello' })).body as { id: string }).id;
  for (let at = 1; at <= many; at++) await addRevision(store, hello, at, { size: 1024 * (1 + ((at * 7) % many)) });
  const { records, authority } = store.beside;
  const at = store.clock.now.getTime();
  await records.change(entry, async (tx) => {
    for (let at = 0; at < many; at++) {
      const username = `pat${numbered(at)}`;
      const email = `${numbered((at * 5) % many)}@example.org`;
      await tx.accounts.add({
        id: username,
        username,
        displayName: username,
        email,
        validation: 'unproven',
        createdAt: entry.at,
      });
      const name = `many-${numbered((at * 11) % many)}`;
      await tx.packages.claim({
        id: `${name}-id`,
        namespace: at % 2 === 0 ? 'rock' : 'bin',
        name,
        type: at % 2 === 0 ? 'rock' : 'bin',
        publisherId: username,
        private: false,
        status: 'registered',
        title: null,
        summary: null,
        description: null,
        license: null,
        defaultTrack: null,
        links: {},
        icon: null,
        edited: [],
        createdAt: entry.at,
      });
    }
  });
  for (let number = 0; number < many; number++) {
    const of = `pat${numbered((number * 13) % many)}`;
    const token = await authority.issue({ accountId: of, ttl: hours(2 + ((number * 17) % many)) }, { actor: 'test' });
    records.countEvent('token', token.sessionId, new Date(at - ((number * 19) % many) * 60_000).toISOString());
    const serial = `s-${numbered((number * 3) % many)}`;
    const seen = (step: number) => new Date(at - ((number * step) % many) * 1000).toISOString();
    records.noteContact({ brand: `b${number % 3}`, model: `m${number % 5}`, serial, at: seen(29), holds: [] });
  }
  await records.writeContacts();
  await records.writeCounters();
  for (let number = 1; number <= many; number++)
    await ada.post('/v1/snap/hello/releases', [{ channel: 'beta', revision: number }]);
  return { store, root: await store.visit('root') };
}

interface Cells {
  heading: string;
  values: string[];
}

/** The rows of a list, by its columns, from its first page to its last. */
async function wholeList(root: Visitor, address: string, caption: string): Promise<Map<string, string[]>> {
  const all = new Map<string, string[]>();
  for (let next: string | undefined = address; next !== undefined;) {
    const page: Page = await root.open(next);
    if (page.status !== 200) throw new Error(`${next}: ${String(page.status)} ${page.text}`);
    const table = tableOf(page.html, caption);
    for (const { heading, values } of columnsOf(table)) all.set(heading, [...(all.get(heading) ?? []), ...values]);
    next = /<a href="([^"]+)" rel="next"/.exec(page.html)?.[1]?.replaceAll('&amp;', '&');
  }
  return all;
}

function tableOf(html: string, caption: string): string {
  const match = [...html.matchAll(/<table>.*?<\/table>/gs)].find(([table]) =>
    textOf(/<caption.*?<\/caption>/s.exec(table)?.[0] ?? '').startsWith(caption),
  );
  if (match === undefined) throw new Error(`the page has no table '${caption}'`);
  return match[0];
}

const headingsOf = (table: string): string[] => [...table.matchAll(/<th scope="col".*?<\/th>/gs)].map(([cell]) => cell);

function columnsOf(table: string): Cells[] {
  const rows = [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].slice(1);
  const cells = rows.map(([, row = '']) => [...row.matchAll(/<t[hd][ >].*?<\/t[hd]>/gs)].map(([cell]) => cell));
  return headingsOf(table).map((heading, at) => ({
    heading: textOf(heading).replace(/\s*[↕↑↓]$/u, ''),
    values: cells.map((row) => row[at] ?? ''),
  }));
}

/** The sort key of a cell: a time, a number or a size, or its first word. */
function valueOf(cell: string): string | number {
  const moment = /datetime="([^"]+)"/.exec(cell)?.[1];
  if (moment !== undefined) return moment;
  const text = textOf(cell).replaceAll('\u2009', '');
  if (text === 'Never') return '';
  const [, number, unit] = /^([\d.]+)\s*(bytes|kB|KiB|MB|MiB)?$/.exec(text) ?? [];
  if (number !== undefined) return Number(number) * (unit === undefined || unit === 'bytes' ? 1 : 1000);
  return /^[^\s,]+/.exec(text)?.[0] ?? '';
}

const lists = [
  { address: '/console/packages', caption: 'Packages', headings: ['Name', 'Kind', 'Publisher', 'Waiting', 'Size'] },
  { address: '/console/packages/snap/hello/revisions', caption: 'Revisions', headings: ['Revision', 'Size'] },
  { address: '/console/packages/snap/hello/history', caption: 'Releases', headings: ['When'] },
  { address: '/console/people', caption: 'Accounts', headings: ['Name', 'E-mail', 'Packages', 'Last seen'] },
  { address: '/console/people/tokens', caption: 'Tokens', headings: ['Whose', 'Since', 'Until', 'Last used'] },
  {
    address: '/console/devices',
    caption: 'Devices',
    headings: ['Serial', 'Brand', 'Model', 'First call', 'Last call'],
  },
] as const;

t.test('every list can be sorted by its columns, over all of its pages', async (t) => {
  const { root, store } = await full(t);
  // When ada's token and root's session were used last is written within a second: by then no list has it on one page and lacks it on another.
  const now = store.clock.now.toISOString();
  await until(async () => {
    const tokens = await wholeList(root, '/console/people/tokens', 'Tokens');
    return tokens.get('Last used')!.filter((cell) => valueOf(cell) === now).length === 3;
  });
  for (const { address, caption, headings } of lists) {
    await t.test(caption, async (t) => {
      const { html } = await root.open(address);
      const links = headingsOf(tableOf(html, caption)).filter((heading) => heading.includes('class="sort"'));
      t.same(
        links.map((heading) => textOf(heading).replace(/\s*[↕↑↓]$/u, '')),
        headings,
      );
      t.equal(links.filter((heading) => heading.includes('aria-sort=')).length, 1, 'it says how it is sorted now');
      const byItself = await wholeList(root, address, caption);
      const count = [...byItself.values()][0]?.length ?? 0;
      t.ok(count >= many, `${caption} are ${String(count)}`);
      for (const heading of headings) {
        const first = linkIn(links, heading);
        const forward = await wholeList(root, first, caption);
        const turned = linkIn(headingsOf(tableOf((await root.open(first)).html, caption)), heading);
        const back = await wholeList(root, turned, caption);
        const [forwardValues, other] = [forward, back].map((rows) => (rows.get(heading) ?? []).map(valueOf));
        t.equal(forwardValues?.length, count, `${heading}: none is lost and none doubled`);
        t.ok(isSorted(forwardValues ?? []) || isSorted((forwardValues ?? []).toReversed()), `sorted by ${heading}`);
        t.ok(isSorted(other ?? []) || isSorted((other ?? []).toReversed()), `and turned round by ${heading}`);
        t.same(forwardValues, other?.toReversed(), heading);
        const [names] = [...forward.values()];
        t.same([...(names ?? [])].sort(), [...([...byItself.values()][0] ?? [])].sort(), 'the same rows');
      }
    });
  }
});

const linkIn = (headings: readonly string[], words: string): string => {
  const columnHeading = headings.find((heading) => textOf(heading).replace(/\s*[↕↑↓]$/u, '') === words);
  const [, href = ''] = /href="([^"]+)"/.exec(columnHeading ?? '') ?? [];
  return href.replaceAll('&amp;', '&');
};

const isSorted = (values: readonly (string | number)[]): boolean =>
  values.every((value, at) => at === 0 || values[at - 1]! <= value);

t.test('a search keeps the order, an order keeps the search, and there is no other order', async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  for (const name of ['zebra', 'zoo', 'apple']) await ada.post('/v1/snap', { name });
  const root = await store.visit('root');
  const searchPage = await root.open('/console/packages?q=z&sort=-name');
  t.match(searchPage.text, /zoo .*zebra /);
  t.notMatch(searchPage.text, /apple/);
  t.match(searchPage.html, '<input type="hidden" name="sort" value="-name" />');
  t.match(searchPage.html, /href="\/console\/packages\?q=z&amp;sort=name"/);
  for (const address of ['packages?sort=id', 'people?sort=password', 'audit?sort=-hash', 'devices?sort=1'])
    t.match(await root.open(`/console/${address}`), { status: 400 }, address);
  t.match(await root.open('/console/people?sort=email&cursor=x'), { status: 400 });
  const adaAtHome = await store.visit('ada');
  t.match(await adaAtHome.open('/console/packages?sort=-publisher'), { status: 200, text: /zebra/ });
  const bob = await store.visit('bob');
  t.notMatch((await bob.open('/console/packages?sort=-size')).text, /zebra|zoo|apple/, 'nor does an order show more');
});
