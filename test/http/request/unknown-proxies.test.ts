// A proxy that the configuration does not name is noticed, and said once.
import t from 'tap';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';

import { startStore } from '#test/fixtures/appliance.ts';

const passedOn = { 'x-forwarded-for': '192.0.2.7' };

t.test('requests through a proxy that is not named are a notice, until it is', async (t) => {
  const store = await startStore(t);
  const notices = async (): Promise<string[]> =>
    ((await store.anyone.get('/readyz')).body.notices as string[]).filter((notice) => notice.includes('proxies'));
  t.same(await notices(), []);
  for (let time = 0; time < 3; time++) await store.anyone.get('/healthz', passedOn);
  t.match(await notices(), [/from 127\.0\.0\.1, which http\.trusted_proxies does not name/]);
  t.match((await store.anyone.get('/readyz')).body, { status: 'ok', problems: [] }, 'with which all can be well');
  const logged = store.log.filter((line) => line.includes('http.trusted_proxies does not name'));
  t.equal(logged.length, 1, 'logged once');

  const file = join(store.directory, 'larder.toml');
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(/^# trusted_proxies = .*$/m, 'trusted_proxies = ["127.0.0.1"]'),
  );
  store.appliance.reload();
  t.same(await notices(), [], 'named, it is none any more');
});

t.test('a trusted proxy is never noticed', async (t) => {
  const store = await startStore(t, (text) =>
    text.replace(/^# trusted_proxies = .*$/m, 'trusted_proxies = ["127.0.0.0/8"]'),
  );
  await store.anyone.get('/healthz', passedOn);
  t.notMatch((await store.anyone.get('/readyz')).body.notices.join(), /proxies/);
});

t.test('any client may send the header, so at most eight addresses are remembered', async (t) => {
  const store = await startStore(t);
  for (let at = 1; at <= 10; at++) {
    const localAddress = `127.0.0.${at}`;
    const asking = get(`${store.url}/healthz`, { headers: passedOn, localAddress, agent: false });
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    await once(answer.resume(), 'end');
  }
  const { notices } = (await store.anyone.get('/readyz')).body as { notices: string[] };
  t.equal(notices.join().match(/127\.0\.0\.\d+/g)?.length, 8);
});
