import t from 'tap';
import { days } from '#domain/clock.ts';
import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { engine } from '#test/fixtures/records/engines.ts';

t.test('Prometheus sees the responses, the refusals, and the free space of the store', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  await ada.post('/v1/snap', { name: 'hello' });
  await store.anyone.upload('some bytes');
  const { status, headers, body } = await store.anyone.get('/metrics');
  t.equal(status, 200);
  t.match(headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
  for (const line of [
    'larder_requests_total{operation="register_name",status="200"} 1',
    'larder_requests_total{operation="register_name",status="409"} 1',
    'larder_refusals_total{code="already-owned"} 1',
    'larder_request_duration_seconds_count{operation="register_name"} 2',
    'larder_packages 1',
    'larder_uploads{state="unclaimed"} 1',
    'larder_sealed 0',
    'larder_job_runs{job="forget-uploads",task="forget-uploads"} 0',
    'larder_notices{code="backup-missing"} 1',
    'larder_problems{code="sealed"} 0',
    'larder_pending{kind="upload"} 0',
    'larder_last_backup_seconds 0',
  ]) {
    t.ok(body.includes(`${line}\n`), line);
  }
  t.match(body, /^larder_disk_free_bytes [1-9]/m);
  if (engine === 'sqlite') t.notMatch(body, /larder_database_(?:conn|queries)/, 'there are no connections to a server');
  t.notMatch(body, new RegExp(ada.token.slice(0, 20)), 'no token is in it');
});

t.test('the metrics count a revision in a branch until the branch ends', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  await ada.push('snap', 'tiny-app', await snapFixture('app-xz'));
  const released = async (): Promise<number> => {
    const { body } = await store.anyone.get('/metrics');
    const counts = body.matchAll(/^larder_finding_coverage\{.*\} (\d+)$/gm);
    return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
  };
  t.equal(await released(), 0);
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'edge/fix', revision: 1 }]);
  t.equal(await released(), 1);
  store.clock.now = new Date(store.clock.now.getTime() + days(60));
  t.equal(await released(), 0);
});

t.test('metrics can be turned off', async (t) => {
  const store = await startStore(t, (text) => text.replace('# metrics = true', 'metrics = false'));
  t.match(await store.anyone.get('/metrics'), { status: 404 });
});

t.test('the metrics are for the host itself, and for the addresses in the configuration', async (t) => {
  const from = async (address: string, configure = (text: string) => text): Promise<number> => {
    const behindProxy = (text: string): string =>
      configure(text.replace(/^# trusted_proxies = .*$/m, 'trusted_proxies = ["127.0.0.1"]'));
    const store = await startStore(t, behindProxy);
    return (await store.anyone.get('/metrics', { 'x-forwarded-for': address })).status;
  };
  t.equal(await from('::1'), 200);
  t.equal(await from('10.0.0.9'), 403);
  const setMonitors = (text: string): string => text.replace(/^# monitors = .*$/m, 'monitors = ["10.0.0.0/24"]');
  t.equal(await from('10.0.0.9', setMonitors), 200);
  t.equal(await from('10.0.1.9', setMonitors), 403);
});
