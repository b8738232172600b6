// How clients of the first version of the bakery log in: they ask for the ways, and wait for the discharge itself.
import t from 'tap';

import { begin, discharge, logInAt, password, startIdentity } from '../world.ts';

t.test('an older client is told where to log in, and gets its discharge from the address where it waits', async (t) => {
  const store = await startIdentity(t);
  const { caveatId } = await begin(store);
  const challenge = await discharge(store, { id64: caveatId.toString('base64') }, '1');
  t.equal(challenge.status, 401);
  const { VisitURL, WaitURL } = challenge.body.Info as { VisitURL: string; WaitURL: string };
  const [visit, wait] = [VisitURL, WaitURL].map((url) => url.replace(store.url, ''));
  const ways = await store.anyone.get(visit!, { accept: 'application/json' });
  t.match(ways, { status: 200, body: { interactive: /\/identity\/login\?did=/, agent: VisitURL } });
  t.match((await store.anyone.get(visit!)).body, '<form method="post"', 'a browser gets the page');
  const waiting = store.anyone.get(wait!);
  t.equal((await logInAt(VisitURL, { username: 'ada', password })).status, 200);
  t.match(await waiting, { status: 200, body: { Macaroon: Object } });
});
