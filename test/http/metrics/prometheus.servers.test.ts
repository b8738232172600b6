// A real Prometheus scrapes a served store: every query of the board and every alert rule finds the metrics that it names.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { larder } from '#test/cli/world.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { until } from '#test/fixtures/until.ts';

t.setTimeout(300_000);

const packaging = join(import.meta.dirname, '../../../packaging');
const rules = join(packaging, 'prometheus/larder.rules.yml');

interface Sample {
  metric: Record<string, string>;
}
interface Rule {
  name: string;
  query: string;
}
interface Target {
  expr: string;
  legendFormat: string;
}

/** A Prometheus that scrapes a store every second; asks it. */
async function prometheus(t: Parameters<typeof startStore>[0] & { testdir(): string }, store: TestAppliance) {
  const [folder, port] = [t.testdir(), await freePort()];
  writeFileSync(
    join(folder, 'prometheus.yml'),
    `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: ['${rules}']
scrape_configs:
  - job_name: larder
    static_configs: [{ targets: ['${new URL(store.url).host}'] }]
`,
  );
  const args = [
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${String(port)}`,
  ];
  const child = spawn('prometheus', args, { stdio: 'ignore' });
  t.teardown(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  return async <Data>(path: string, query: Record<string, string> = {}): Promise<Data> => {
    const url = `http://127.0.0.1:${String(port)}/api/v1/${path}?${new URLSearchParams(query).toString()}`;
    const answer = await fetch(url);
    const { status, data, error } = (await answer.json()) as { status: string; data: Data; error?: string };
    if (status !== 'success') throw new Error(`${query['query'] ?? path}: ${error ?? status}`);
    return data;
  };
}

t.test('promtool takes the alert rules', (t) => {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', rules], { encoding: 'utf8' });
  t.equal(status, 0, stderr);
  t.match(stdout, /SUCCESS: \d+ rules found/);
  t.end();
});

t.test('the metrics of the dashboard and of the alert rules exist', async (t) => {
  const store = await startStore(t, undefined, new Date());
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'tool' });
  await ada.push('bin', 'tool', 'a tool');
  await ada.post('/v1/bin', { name: 'tool' });
  t.match(await larder(`backup ${join(t.testdir(), 'one.tar')} --data ${store.directory}`), { code: 0 });
  const ask = await prometheus(t, store);
  const result = async (query: string): Promise<Sample[]> =>
    (await ask<{ result: Sample[] }>('query', { query })).result;
  await until(async () => (await result('up == 1').catch(() => [])).length === 1);

  const board = JSON.parse(readFileSync(join(packaging, 'grafana/larder.json'), 'utf8')) as {
    panels: { title: string; targets: Target[] }[];
  };
  const metricNames = new Set<string>();
  /** A store has none of these: no TLS, no transfer, one process, no job that ran. */
  const absent = /larder_(?:certificate|authority)_end|larder_last_transfer|larder_job_last_success|larder_workers/;
  for (const { title, targets } of board.panels) {
    for (const { expr, legendFormat } of targets) {
      for (const [name] of expr.matchAll(/larder_\w+/g)) metricNames.add(name);
      // Nor has it a notice.
      if (absent.test(expr) || expr.endsWith(' > 0')) {
        t.same(await result(expr), [], `${title}: ${expr}`);
        continue;
      }
      // A rate needs two scrapes.
      await until(async () => (await result(expr)).length > 0);
      const [, label] = /^\{\{(\w+)\}\}$/.exec(legendFormat) ?? [];
      const series = await result(expr);
      if (label !== undefined && !expr.includes('vector(0)'))
        t.ok(
          series.every(({ metric }) => metric[label] !== undefined),
          `${title}: ${label}`,
        );
      t.ok(series.length > 0, title);
    }
  }
  const { groups } = await ask<{ groups: { rules: Rule[] }[] }>('rules');
  const all = groups.flatMap((group) => group.rules);
  t.equal(all.length, 12);
  for (const { name, query } of all) {
    for (const [metric] of query.matchAll(/larder_\w+/g)) metricNames.add(metric);
    const samples = await result(query);
    // The state of the disk of the test is no matter of the store.
    if (name !== 'LarderDiskFull') t.same(samples, [], `${name} is silent on a store that is well`);
  }
  const page = (await store.anyone.get('/metrics')).body as string;
  for (const name of metricNames) {
    if (/larder_workers|larder_$/.test(name)) continue;
    t.match(page, new RegExp(`^# TYPE ${name.replace(/_(?:bucket|count|sum)$/, '')} `, 'm'), name);
  }

  // The label 'task' outlives the scrape, 'job' does not.
  const [runs] = await result('larder_job_runs{task="sweep-blobs"}');
  t.match(runs?.metric, { job: 'larder', exported_job: 'sweep-blobs' });

  renameSync(join(store.directory, 'master.key'), join(store.directory, 'master.key.aside'));
  store.appliance.reload();
  const alerts = async (): Promise<Sample['metric'][]> =>
    (await ask<{ alerts: { labels: Sample['metric'] }[] }>('alerts')).alerts.map(({ labels }) => labels);
  await until(async () => (await alerts()).some(({ code }) => code === 'sealed'));
  t.match(
    (await alerts()).filter(({ code }) => code === 'sealed'),
    [{ alertname: 'LarderProblem', severity: 'critical' }],
  );
});
