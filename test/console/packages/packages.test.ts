// The packages as people look for them in the console.
import t from 'tap';

import { addCollaborator, addRevision } from '#test/fixtures/packages/packages.ts';
import { startConsole } from '#test/console/world.ts';

t.test('packages are looked for', async (t) => {
  const store = await startConsole(t);
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  const register = async (client: typeof ada, namespace: string, name: string): Promise<string> =>
    ((await client.post(`/v1/${namespace}`, { name })).body as { id: string }).id;
  const [adaAtHome, bobAtHome, root] = [await store.visit('ada'), await store.visit('bob'), await store.visit('root')];
  const listPath = '/console/packages';

  await t.test('without a login, no package is shown', async (t) => {
    t.match(await store.visitor().open(listPath), { status: 401, text: /Log in/ });
  });

  await t.test('without packages, the page says how to begin', async (t) => {
    t.match(await adaAtHome.open(listPath), { status: 200, text: /no package yet.*snapcraft register NAME/ });
    t.match(await root.open(listPath), { status: 200, text: /larder package register snap\/NAME --account ID/ });
  });

  const hello = await register(ada, 'snap', 'hello');
  await register(ada, 'charm', 'harbour');
  const others = await register(bob, 'snap', 'pumps');
  await addRevision(store, hello, 7, { version: '1.2<b>' });

  await t.test('a publisher sees own packages, and those of collaborations', async (t) => {
    t.match(await adaAtHome.open(listPath), { text: /harbour.*hello/ });
    t.notMatch(await adaAtHome.open(listPath), { text: /pumps/ });
    t.match(await bobAtHome.open(listPath), { text: /pumps/ });
    t.notMatch(await bobAtHome.open(listPath), { text: /hello/ });
    t.match(await adaAtHome.open(`${listPath}?of=all`), { status: 403, text: /Only a store administrator/ });
    await addCollaborator(store, others, 'ada');
    t.match(await adaAtHome.open(listPath), { text: /harbour.*hello.*pumps snap bob/ });
  });

  await t.test('an administrator sees all packages, or only own ones', async (t) => {
    t.match(await root.open(listPath), { text: /All packages of this store.*harbour.*hello.*pumps/ });
    t.match(await root.open(`${listPath}?of=own`), { text: /no package yet/i });
  });

  await t.test('the facts of a package are listed with it, and no text becomes markup', async (t) => {
    await ada.patch('/v1/snap/hello', { title: `Grüße <b>"to"</b> 'all'` });
    await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 7 }]);
    const { html, text } = await adaAtHome.open(listPath);
    t.match(html, /<a href="\/console\/packages\/snap\/hello"\s*><bdi>hello<\/bdi><\/a\s*>/);
    t.match(text, /hello Grüße <b>"to"<\/b> 'all' snap ada 1.2<b> 0/);
    t.notMatch(html, /<b>/);
    t.match(text, /harbour charm ada Nothing 0 0 bytes/);
  });

  await t.test('a piece of the name or the title finds a package, in whichever case', async (t) => {
    const findNames = async (query: string): Promise<string[]> => {
      const { html } = await root.open(`${listPath}?${query}`);
      return [...html.matchAll(/<a href="\/console\/packages\/[a-z]+\/([\w-]+)"/g)].map(([, name = '']) => name);
    };
    t.same(await findNames('q=ELL'), ['hello']);
    t.same(await findNames('q=gr%C3%BC%C3%9Fe'), ['hello']);
    t.same(await findNames('q=%25'), [], 'a sign of SQL is a sign like any other');
    t.same(await findNames('q=&namespace=snap&of='), ['hello', 'pumps']);
    t.same(await findNames('q=h&namespace=charm'), ['harbour']);
    t.match(await root.open(`${listPath}?q=nowhere`), { text: /No name or title contains this text/ });
    t.match(await root.open(`${listPath}?q=%22%3E%3Cb%3E`), { html: /value="&quot;&gt;&lt;b&gt;"/ });
  });

  await t.test('a meaningless filter is refused', async (t) => {
    t.match(await root.open(`${listPath}?namespace=shoe`), { status: 400, text: /no namespace 'shoe'/ });
    t.match(await root.open(`${listPath}?cursor=x`), { status: 400, text: /cursor does not belong/ });
    t.match(await root.open(`${listPath}?q=${'x'.repeat(101)}`), { status: 400 });
  });

  await t.test('a page has fifty, and the next begins where it ends', async (t) => {
    const at = store.clock.now.toISOString();
    await store.beside.records.change({ at, actor: 'test', action: 'grow', object: 'x' }, async (tx) => {
      for (let at = 0; at < 51; at++) {
        const name = `many-${String(at).padStart(2, '0')}`;
        await tx.packages.claim({
          id: `${name}-id`,
          namespace: 'rock',
          name,
          type: 'rock',
          publisherId: store.ids.bob,
          private: true,
          status: 'registered',
          title: null,
          summary: null,
          description: null,
          license: null,
          defaultTrack: null,
          links: {},
          icon: null,
          edited: [],
          createdAt: store.clock.now.toISOString(),
        });
      }
    });
    for (const somebody of [root, bobAtHome]) {
      const first = await somebody.open(`${listPath}?q=many&namespace=rock`);
      t.match(first.text, /many-49 rock, private bob/);
      t.notMatch(first.text, /many-50/);
      const [, next = ''] = /<a href="([^"]+)" rel="next"/.exec(first.html) ?? [];
      const second = await somebody.open(next.replaceAll('&amp;', '&'));
      t.match(second.text, /many-50/);
      t.notMatch(second.text, /many-49|Next page/);
    }
  });
});
