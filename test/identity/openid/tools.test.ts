// Craft tools log in through a browser: the login page has the button, and the tool that waits gets its token.
import t from 'tap';

import { begin, waysIn } from '../world.ts';
import { continuation, person, startOpenidStore, type OpenidStore } from './world.ts';

const waysOf = async (store: OpenidStore): Promise<{ VisitURL: string; WaitTokenURL: string }> => {
  const { caveatId } = await begin(store, { permissions: ['package-view'], description: 'craft on a laptop' });
  return (await waysIn(store, caveatId)).InteractionMethods['browser-window'] as {
    VisitURL: string;
    WaitTokenURL: string;
  };
};

t.test('a tool gets its token after a login with the provider', async (t) => {
  const store = await startOpenidStore(t);
  const { VisitURL, WaitTokenURL } = await waysOf(store);
  const { pathname, search } = new URL(VisitURL);
  const browser = store.visitor();
  const shown = await browser.open(pathname + search);
  t.match(shown.text, /craft on a laptop asks for a token.*Log in with EXAMPLE/);
  const back = store.issuer.logIn(continuation(await browser.send(shown, '/identity/openid/login')), person('carol'));
  const last = await browser.open(back.pathname + back.search);
  t.match(last.text, /You are logged in As carol\./);
  const { token64 } = (await (await fetch(WaitTokenURL)).json()) as { token64: string };
  t.type(token64, 'string');
  t.equal((await browser.open(pathname + search)).status, 200);
  t.equal((await browser.open('/console')).status, 401, 'the login is for the tool alone');
});

t.test('only the form on the page of the login finishes it with the provider', async (t) => {
  const store = await startOpenidStore(t);
  const { VisitURL } = await waysOf(store);
  const { pathname, search } = new URL(VisitURL);
  const visitor = store.visitor();
  const link = await visitor.open(`/identity/openid/login${search}`);
  t.equal(link.status, 405, 'a link begins no login');
  const { browser, address } = await store.begin(pathname + search);
  const back = store.issuer.logIn(address, person('mallory', { email: undefined }));
  t.equal((await browser.open(back.pathname + back.search)).status, 401);
  t.match((await browser.open(pathname + search)).text, /Log in with EXAMPLE/, 'the login is still open');
});
