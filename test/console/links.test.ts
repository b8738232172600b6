// No page of the console has a link that the person who sees it may not follow.
import t from 'tap';

import { changeRole } from '#acts/accounts/accounts.ts';
import { itself } from '#acts/act.ts';
import { readGuide } from '#test/fixtures/guides.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { startConsole, type Visitor } from './world.ts';

/** A publisher, an approver, an auditor and an administrator, each with a package and a token. */
async function peopled(t: Parameters<typeof startConsole>[0]) {
  const store = await startConsole(t);
  const people = ['ada', 'carol', 'dave', 'root'];
  for (const who of ['carol', 'dave']) await store.join(who);
  const { acts } = store.beside;
  for (const [who, role] of [
    ['carol', 'transfer-approver'],
    ['dave', 'auditor'],
  ] as const) {
    await acts.do(changeRole, itself, { id: store.ids[who] ?? '', role, remove: false });
  }
  for (const who of people) {
    const client = await store.as(who);
    const { id } = (await client.post('/v1/snap', { name: `${who}s` })).body as { id: string };
    await addRevision(store, id, 1);
    await client.post(`/v1/snap/${who}s/releases`, [{ channel: 'edge', revision: 1 }]);
  }
  return { store, people };
}

/** The pages that links reach from the front page, by their addresses without the query. */
async function reached(visitor: Visitor): Promise<Map<string, { status: number; from: string }>> {
  const linkedPages = new Map<string, { status: number; from: string }>();
  const left = [{ address: '/console', from: 'the browser' }];
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const { address, from } = next;
    const [path = ''] = address.split(/[?#]/);
    if (linkedPages.has(path)) continue;
    const { status, html } = await visitor.open(address);
    linkedPages.set(path, { status, from });
    for (const [, href = ''] of html.matchAll(/href="(\/console[^"#]*)"/g)) {
      left.push({ address: href.replaceAll('&amp;', '&'), from: path });
    }
  }
  return linkedPages;
}

t.test('each link of each page leads to a page that the reader may see', async (t) => {
  const { store, people } = await peopled(t);
  for (const who of people) {
    const pages = await reached(await store.visit(who));
    const refused = [...pages].filter(([, { status }]) => status !== 200);
    t.strictSame(refused, [], who);
    t.ok(
      [...pages.keys()].some((path) => /\/console\/myself\/tokens\/.*\/end$/.test(path)),
      `${who} saw a token of theirs`,
    );
  }
});

t.test('each role sees what the guide says', async (t) => {
  const { store } = await peopled(t);
  const rows = new Map(
    [...readGuide('console').matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)].map(([, who = '', sees = '']) => [who, sees]),
  );
  for (const [who, role] of [
    ['carol', 'transfer-approver'],
    ['dave', 'auditor'],
  ] as const) {
    const visitor = await store.visit(who);
    for (const [address, words] of [
      ['/console/carry', 'transfers'],
      ['/console/audit', 'the audit log'],
    ] as const) {
      t.equal((await visitor.open(address)).status === 200, rows.get(role)?.includes(words), `${role}: ${words}`);
    }
  }
});
