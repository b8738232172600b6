// The first days with a store: the steps tick themselves, and what is wrong is a page.
import t from 'tap';

import { addRevision } from '#test/fixtures/packages/packages.ts';
import { startConsole } from '#test/console/world.ts';

t.test('the steps of a new store and of a new publisher tick themselves', async (t) => {
  const store = await startConsole(t);
  const [root, ada] = [await store.visit('root'), await store.visit('ada')];

  await t.test('an administrator sees them until there is a package', async (t) => {
    t.match(await root.open('/console'), { text: /Set up this store Done: Choose a password .* Continue/ });
    const page = await root.open('/console/set-up');
    t.match(page.text, /Set up this store 3 steps are left\. Each ticks itself .* Done: Choose a password Done\./);
    t.match(page.text, /Turn on one-time passwords Scan the code/);
    t.match(page.text, /Done: Invite the first publisher .* Get the first package A publisher registers/);
    t.equal((await ada.open('/console/set-up')).status, 403, 'a publisher');
  });

  await t.test('a publisher sees the way to the first release', async (t) => {
    const before = await ada.open('/console');
    t.match(
      before.text,
      /Your first package .*Make a token for your tool .*Register a name .*Push a revision .*Release it/,
    );
    const client = await store.as('ada');
    const { id } = (await client.post('/v1/snap', { name: 'hello' })).body as { id: string };
    const homePage = await ada.open('/console');
    t.match(homePage.text, /Done: Register a name/);
    await addRevision(store, id, 1);
    t.match((await ada.open('/console')).text, /Done: Push a revision .* Release it Choose it/);
    await client.post('/v1/snap/hello/releases', [{ channel: 'edge', revision: 1 }]);
    t.notMatch((await ada.open('/console')).text, /Your first package/, 'and the page is free of them');
    t.notMatch((await root.open('/console')).text, /Set up this store/, 'and the overview is free of them');
    t.match((await root.open('/console/set-up')).text, /Done: Get the first package/);
  });
});

t.test('the first visit is no failure', async (t) => {
  const store = await startConsole(t);
  const first = await store.visitor().open('/console');
  t.match(first, { status: 401, text: /Log in User name/ });
  t.notMatch(first.html, /role="alert"/);
  const ada = await store.visit('ada');
  ada.cookie = ada.cookie.slice(0, -4);
  t.match(await ada.open('/console'), { status: 401, html: /class="notice/ });
});

t.test('an error in the console is a page for every client, and its text is no markup', async (t) => {
  const store = await startConsole(t);
  for (const accept of ['*/*', 'text/html', 'application/json']) {
    const reply = await fetch(`${store.url}/console/nothing/%3Cb%3E`, { headers: { accept } });
    t.equal(reply.status, 404, accept);
    t.match(reply.headers.get('content-type'), /^text\/html/, accept);
    t.match(reply.headers.get('content-security-policy'), /default-src 'none'/);
    const html = await reply.text();
    t.match(html, /There is nothing at .*href="\/console"/s);
    t.notMatch(html, /<b>/);
  }
  const wrongMethod = await fetch(`${store.url}/console/log-out`);
  t.match(wrongMethod, { status: 405 });
  t.equal(wrongMethod.headers.get('allow'), 'POST');
  t.match(await wrongMethod.text(), /This address takes POST, not GET/);
  const twice = await fetch(`${store.url}/console/packages?q=a&q=b`);
  t.match(twice, { status: 400 });
  t.match(twice.headers.get('content-type'), /^text\/html/);
  t.match((await fetch(`${store.url}/console/assets/none.css`)).headers.get('content-type'), /json/);
  t.match((await fetch(`${store.url}/v1/nothing`)).headers.get('content-type'), /json/);
});

t.test('the search of the header finds packages, accounts and sections of the documents', async (t) => {
  const store = await startConsole(t);
  await (await store.as('ada')).post('/v1/snap', { name: 'rollout-tool' });
  const [root, ada, bob] = [await store.visit('root'), await store.visit('ada'), await store.visit('bob')];
  t.match((await ada.open('/console')).html, /<form\s+class="find"\s+role="search"[^>]*action="\/console\/search"/);
  const own = await ada.open('/console/search?text=rollout');
  t.match(own.html, /href="\/console\/packages\/snap\/rollout-tool"/);
  t.match(own.html, /href="\/docs\/[^"]+"[^>]*>.*<mark>/s);
  t.notMatch((await bob.open('/console/search?text=rollout')).text, /rollout-tool/, 'not the packages of others');
  t.match((await root.open('/console/search?text=ada')).text, /Accounts ada/);
  t.notMatch((await bob.open('/console/search?text=ada')).html, /<h2>Accounts<\/h2>/);
  t.match((await root.open('/console/search')).text, /Type a part of a name/);
  const hostile = await root.open(`/console/search?text=${encodeURIComponent('<b>"x"</b>')}`);
  t.match(hostile, { status: 200, text: /Search: <b>"x"<\/b> .*No package has this text/ });
  t.notMatch(hostile.html, /<b>/);
  t.match(await root.open(`/console/search?text=${'x'.repeat(101)}`), { status: 400 });
  t.equal((await store.visitor().open('/console/search?text=a')).status, 401);
});
