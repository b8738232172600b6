// The requests of juju users who look for charms, in a store of very many: the cost for the server, and the size of the
// responses.
import { rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';

import { pino } from 'pino';

import { createCatalogKeeper } from '#jobs/packages/keep-catalog.ts';
import { changeConfig } from '#configuration/config.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { median, processorTime, startServer, stopServer, watchMachine } from './harness/measure.ts';
import { fillStore, type FilledStore } from './harness/store.ts';

const charms = 10_000;
const rounds = 7;
const requests = 20;

const about = ['sql', 'web', 'k8s', 'proxy', 'metrics', 'queue', 'cache', 'storage', 'auth', 'operator'];
const interfaces = ['mysql', 'http', 'ingress', 'loki', 'nats'];

/** Of `operator` there are 10,000, of `web` 1,000 in a name and as many in a summary, of `sql-1234` there is one. */
const questions: Record<string, string> = {
  'a name': 'q=charm-01234',
  'a word of 20': 'q=rare',
  'a word of 2,000': 'q=web',
  'two words': 'q=web+cache',
  'a word of 10,000': 'q=operator',
  'a word of 10,000, of an interface': 'q=operator&relation-provides=nats',
  'an interface and a channel': 'q=&relation-requires=mysql&channel=edge',
  'an architecture': 'q=&platforms=s390x',
  everything: 'q=',
  'everything, names alone': 'q=&fields=name',
};

/** Prints milliseconds of processor time, how many are found and the bytes of the answer, of each question. */
export async function charmsFound(): Promise<void> {
  const filled = await fillStore(1, 1);
  await fill(filled);
  await filled.store.close();
  changeConfig(join(filled.directory, 'larder.toml'), { 'devices.charm': true });
  const { child, told: ready } = await startServer<{ port: number }>('store-server.ts', filled.directory);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const busy = watchMachine(child);
  console.log(`charms: what find costs among ${String(charms)} charms; 1 connection`);
  for (const [name, query] of Object.entries(questions)) {
    const ask = () => answerTo({ port: ready.port, agent, path: `/v2/charms/find?${query}` });
    for (let warm = 0; warm < 3 * requests; warm++) await ask();
    const costs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = processorTime(child);
      for (let number = 0; number < requests; number++) await ask();
      costs.push((processorTime(child) - before) / requests);
    }
    const answer = await ask();
    const { results } = JSON.parse(answer) as { results: unknown[] };
    const figures = `${median(costs).toFixed(2).padStart(7)} ms ${String(results.length).padStart(4)} found`;
    console.log(`  ${name.padEnd(36)} ${figures} ${String(answer.length).padStart(8)} bytes`);
  }
  console.log(`  ${busy()}`);
  agent.destroy();
  await stopServer(child);
  rmSync(filled.directory, { recursive: true, force: true });
}

async function fill({ store, accountId }: FilledStore): Promise<void> {
  const at = new Date().toISOString();
  const pick = (from: readonly string[], number: number): string => from[number % from.length]!;
  await store.records.change({ at, actor: 'bench', action: 'fill', object: 'store' }, async (tx) => {
    const fill = filler(tx, at);
    for (let number = 0; number < charms; number++) {
      const id = `charm-id-${String(number)}`;
      const name = `${pick(about, number)}-charm-${String(number).padStart(5, '0')}`;
      await fill.package({ id, namespace: 'charm', name, publisherId: accountId, status: 'published' });
      const words = [pick(about, Math.floor(number / 10)), number % 500 === 0 ? 'rare' : 'usual'];
      const summary = `An operator of ${words.join(', ')} things that somebody deploys`;
      await tx.packages.describe({ ...(await tx.packages.find('charm', name))!, summary });
      for (const [at, channel] of ['latest/stable', 'latest/edge'].entries()) {
        const architectures = number % 100 === 0 ? ['amd64', 's390x'] : ['amd64', 'arm64'];
        const bases = architectures.map((architecture) => ({ name: 'ubuntu', channel: '24.04', architecture }));
        const [provides, requires] = [pick(interfaces, number), pick(interfaces, Math.floor(number / 5))];
        const declarations = {
          provides: [provides],
          requires: [requires],
          resources: {},
          categories: ['data'],
          license: 'MIT',
        };
        await fill.revision({
          packageId: id,
          revision: at + 1,
          createdBy: accountId,
          details: { bases, said: declarations },
        });
        for (const { architecture } of bases) {
          const place = { slot: architecture, architecture, baseName: 'ubuntu', baseChannel: '24.04' };
          await fill.release({ packageId: id, channel, revision: at + 1, ...place });
        }
      }
    }
  });
  const began = performance.now();
  await createCatalogKeeper({
    records: store.records,
    now: () => new Date(),
    log: pino({ level: 'silent' }),
  }).job.run();
  console.log(`charms: the catalog of them is made in ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

const answerTo = (options: { port: number; agent: Agent; path: string }): Promise<string> =>
  new Promise((resolve, reject) => {
    get(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.once('end', () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`cannot measure: ${text.slice(0, 500)}`));
      });
    }).once('error', reject);
  });
