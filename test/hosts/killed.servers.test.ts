// Hosts are killed under load, and the servers of their records and files with them: nothing that was acknowledged is lost, and nothing is done
// twice. test/workers/killed.servers.test.ts shows that it would be noticed.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';
import t from 'tap';

import { startHosts, type Hosts } from '#test/fixtures/processes/hosts.ts';
import { count, startClients, wrongIn, type Asking } from '#test/fixtures/processes/killed-workers.ts';
import { larder } from '#test/fixtures/processes/served.ts';
import { until } from '#test/fixtures/until.ts';

const long = process.env['LARDER_LONG'] === '1';
const [kills, restarts] = long ? [200, 50] : [1, 1];
t.setTimeout(long ? 7_200_000 : 1_800_000);

/** Asks the server itself, as its administrator. */
async function askingServer({ server, database }: Pick<Hosts, 'server' | 'database'>) {
  const client = new pg.Client({ host: server.folder, port: server.port, user: 'larder', database });
  await client.connect();
  const asking: Asking = async (text, value) => {
    const { rows } = await client.query({ text: text.replace('?', '$1'), values: [value], rowMode: 'array' });
    return rows.map(([first]: unknown[]) => first);
  };
  return { asking, close: () => client.end() };
}

t.test(
  `after ${kills} failures of hosts and ${restarts} of each of their engines every acknowledged change exists, once`,
  async (t) => {
    const store = await startHosts(t, 2);
    const { hosts, server, swift, token } = store;
    const { told: acknowledged, stop } = await startClients(
      hosts.map(({ url }) => url),
      token,
    );
    const working = async (): Promise<void> => {
      const before = count(acknowledged);
      await until(() => count(acknowledged) > before + 4);
    };
    const events = [
      ...Array<'host'>(kills).fill('host'),
      ...Array<'database'>(restarts).fill('database'),
      ...Array<'bucket'>(restarts).fill('bucket'),
    ];
    while (events.length > 0) {
      await working();
      const [event] = events.splice(randomInt(events.length), 1);
      await sleep(randomInt(0, 50));
      if (event === 'database') {
        await server.stop(randomInt(2) === 0 ? 'crash' : 'order');
        await server.start();
      } else if (event === 'bucket') {
        await swift.stop();
        await swift.start();
      } else {
        const host = hosts[randomInt(hosts.length)]!;
        await host.fail();
        await working();
        await host.start();
      }
    }
    await working();
    await stop();
    t.ok(acknowledged.names.size > 0 && acknowledged.pushes.size > 0);
    t.ok(
      acknowledged.broken > 0,
      `${acknowledged.broken} requests were cut or refused, ${count(acknowledged)} acknowledged`,
    );
    const { asking, close } = await askingServer(store);
    // The last pushes still wait for review. The reviews of a failed host are taken over within a minute.
    for (let before = Infinity, at = 0; before > 0 && at < 200; at++) {
      before = (await wrongIn(asking, acknowledged)).length;
      if (before > 0) await sleep(1000);
    }
    t.same(await wrongIn(asking, acknowledged), []);
    await close();
    for (const host of hosts) await until(host.isReady);
    for (const { data } of hosts) t.match(await larder('audit', 'verify', '--data', data), { good: true });
    for (const host of hosts) t.equal(await host.stop(), 0);
  },
);
