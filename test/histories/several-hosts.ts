// A store of several hosts: records on a PostgreSQL server, and files in a bucket.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { changeConfig, readConfig } from '#configuration/config.ts';
import { startHosts, type Host, type Hosts } from '#test/fixtures/processes/hosts.ts';
import { startCable, type Cable } from '#test/fixtures/servers/cable.ts';
import { startProxy, type Proxy } from '#test/fixtures/servers/postgres-proxy.ts';
import { until } from '#test/fixtures/until.ts';
import { approvalRules, approverOptions, setUpApprovers, type ApproverHandout } from './load/approvers.ts';
import { logQuery, pauseLength, shiftClocks, toEntry } from './one-host.ts';
import { prepareTransfers, trustRoots, trustSource, type RunCommand } from './load/prepared-transfers.ts';
import type { Disturbance, StoreSetUp } from './run.ts';

type Test = Parameters<typeof startHosts>[0] & { comment(text: string): void };

/** The networks of the hosts: to their database server, and to their bucket. */
interface Networks {
  proxies: readonly Proxy[];
  cables: readonly Cable[];
}

/** Puts a proxy between each host and its database server, and a cable between it and its bucket. */
async function startNetworks(t: Test, { hosts, server, database }: Hosts): Promise<Networks> {
  const [proxies, cables]: [Proxy[], Cable[]] = [[], []];
  for (const host of hosts) {
    const file = join(host.data, 'larder.toml');
    const bucket = new URL(readConfig(file).blobs.s3!);
    const [proxy, cable] = [await startProxy(server.folder), await startCable(Number(bucket.port))];
    t.teardown(() => Promise.all([proxy.end(), cable.end()]));
    const address = server.address().replace('/postgres?', `/${database}?`);
    bucket.port = String(cable.port);
    changeConfig(file, {
      'records.postgres': address.replace(encodeURIComponent(server.folder), encodeURIComponent(proxy.folder)),
      'blobs.s3': bucket.href,
    });
    await host.stop();
    await host.start();
    proxies.push(proxy);
    cables.push(cable);
  }
  return { proxies, cables };
}

type Network = Pick<Cable, 'breakAll' | 'lag' | 'isSilent'>;

/** Disturbs the connections of a host to an engine. */
function disturbNetwork(engine: string, networks: readonly Network[]): Record<string, Disturbance> {
  return {
    async [`cut ${engine} network`](choices) {
      choices.pick(networks).breakAll();
    },
    async [`slow ${engine} network`](choices) {
      const network = choices.pick(networks);
      network.lag = choices.between(20, 400);
      await sleep(choices.between(500, 3000));
      network.lag = 0;
    },
    async [`half-open ${engine} network`](choices) {
      const network = choices.pick(networks);
      network.isSilent = true;
      await sleep(choices.between(500, 8000));
      // Bytes were lost, so these connections are of no use.
      network.breakAll();
      network.isSilent = false;
    },
  };
}

/** How many checks pass between two comments on a host that is not ready: a wait that never ends shows its reason. */
const checksPerComment = 300;

/** Waits until a host can work. One that was away for too long ends itself, and is started as by systemd. */
async function awaitReady(host: Host, comment: (text: string) => void): Promise<void> {
  let checks = 0;
  await until(async () => {
    if (host.hasEnded()) await host.start();
    if (await host.isReady()) return true;
    if (++checks % checksPerComment === 0) {
      const says = await host.ask('/readyz').then(({ text }) => text, String);
      comment(`${host.name} is not ready: ${says} ${host.log().slice(-2000)}`);
    }
    return false;
  });
}

/** Starts a store that so many hosts serve. */
export async function startSeveralHosts(t: Test, size: number): Promise<StoreSetUp> {
  const shiftClock = shiftClocks(t);
  const comment = (text: string): void => t.comment(text);
  const store = await startHosts(t, size, { initOptions: approverOptions });
  const handouts = store.made['approvers'] as ApproverHandout[];
  const { hosts, server, swift, database } = store;
  const credential = readFileSync(join(hosts[0]!.data, 'admin.macaroon'), 'utf8');
  const source = await prepareTransfers(t);
  for (const { data } of hosts) trustRoots(data, source);
  let turn = 0;
  const runCommand: RunCommand = async (...args) =>
    JSON.parse(await hosts[turn++ % size]!.type(`larder ${args.join(' ')} --json`)) as unknown;
  await trustSource(runCommand, source);
  // From now on trust in a source would need approvals too.
  for (const { data } of hosts)
    changeConfig(join(data, 'larder.toml'), { 'approvals.releases': approvalRules(handouts) });
  const { proxies, cables } = await startNetworks(t, store);
  return {
    approvers: await setUpApprovers(handouts, hosts[0]!.url),
    transfers: source.transfers,
    runCommand,
    urls: hosts.map(({ url }) => url),
    credential,
    async readLog() {
      for (const host of hosts) await awaitReady(host, comment);
      const { rows } = await server.ask(logQuery, database);
      return rows.map((row) => toEntry(row as Parameters<typeof toEntry>[0]));
    },
    disturbances: {
      ...disturbNetwork('database', proxies),
      ...disturbNetwork('bucket', cables),
      async 'lost commit'(choices) {
        choices.pick(proxies).next = choices.pick(['is cut before', 'is cut behind']);
      },
      clock: (choices) => shiftClock(choices.pick(hosts).name)(choices),
      async kill(choices) {
        const host = choices.pick(hosts);
        await host.fail();
        await sleep(choices.between(0, 1000));
        await host.start();
      },
      async pause(choices) {
        const host = choices.pick(hosts);
        await host.pause(pauseLength(choices));
        await awaitReady(host, comment);
      },
      async database(choices) {
        await server.stop(choices.pick(['crash', 'order']));
        await sleep(choices.between(0, 1500));
        await server.start();
      },
      async bucket(choices) {
        if (choices.below(2) === 0) {
          swift.freeze();
          await sleep(choices.between(200, 4000));
          swift.goOn();
        } else {
          await swift.stop();
          await swift.start();
        }
      },
    },
  };
}
