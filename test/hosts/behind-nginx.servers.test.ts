// Three hosts behind nginx, set up as in the guide: clients do not notice when one of them fails or is stopped.
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';

import t from 'tap';

import { examplesIn } from '#test/fixtures/guides.ts';
import { startHosts } from '#test/fixtures/processes/hosts.ts';
import { makeSiteCertificate, startNginx } from '#test/fixtures/servers/nginx.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { until } from '#test/fixtures/until.ts';

const skip = withoutPrograms('nginx', 'openssl');
t.setTimeout(1_800_000);

const name = 'store.example.internal';

t.test('clients do not notice that a host fails, or is stopped', { skip }, async (t) => {
  const { hosts, token } = await startHosts(t, 3, { baseUrl: `https://${name}` });
  const ca = readFileSync(join(hosts[0]!.data, 'tls/ca.pem'), 'utf8');
  t.same(
    hosts.map(({ data }) => readFileSync(join(data, 'tls/ca.pem'), 'utf8')),
    [ca, ca, ca],
    'one authority',
  );
  const [[, ...guided] = []] = examplesIn('hosts', 'The load balancer', 1);
  const { port, folder } = await startNginx(t, (listen, folder) => {
    const { key, certificate } = makeSiteCertificate(folder, name);
    return hosts
      .reduce(
        (text, host, at) => text.replace(`store-${at + 1}.example.internal:443`, new URL(host.url).host),
        guided.join('\n'),
      )
      .replace('listen 443', `listen ${listen}`)
      .replace('/etc/nginx/store.pem', certificate)
      .replace('/etc/nginx/store.key', key)
      .replace('/etc/nginx/larder-ca.pem', join(hosts[0]!.data, 'tls/ca.pem'));
  });

  const trusted = readFileSync(join(folder, 'store.pem'));
  const ask = (method: string, path: string, body?: object) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const headers = { authorization: `Macaroon ${token}`, ...(body && { 'content-type': 'application/json' }) };
      const sent = request(
        { host: '127.0.0.1', port, servername: name, ca: trusted, method, path, headers, agent: false },
        (reply) => {
          let text = '';
          reply.setEncoding('utf8').on('data', (more: string) => (text += more));
          reply.on('end', () => resolve({ status: reply.statusCode ?? 0, body: text })).on('error', reject);
        },
      );
      sent.on('error', reject).end(body && JSON.stringify({ ...body, host: undefined }));
    });

  t.match(await ask('POST', '/v1/snap', { name: 'hello' }), { status: 200 });
  let requestCount = 0;
  let stopped = false;
  const wrong: string[] = [];
  const asking = Promise.all(
    [0, 1, 2].map(async () => {
      while (!stopped) {
        const { status, body } = await ask('GET', '/v1/snap/hello').catch((error: unknown) => ({
          status: 0,
          body: String(error),
        }));
        requestCount++;
        if (status !== 200) wrong.push(`${status} ${body}`);
      }
    }),
  );
  const some = async (): Promise<void> => {
    const before = requestCount;
    await until(() => requestCount > before + 20);
  };
  const served = (at: number): number => hosts[at]!.log().match(/"operation":"package_metadata"/g)?.length ?? 0;
  await some();
  await until(() => [0, 1, 2].every((at) => served(at) > 0));

  await hosts[0]!.fail();
  await some();
  await hosts[0]!.start();
  const before = served(0);
  await until(() => served(0) > before);

  // One after the other, as in an upgrade.
  for (const [at, host] of hosts.entries()) {
    t.equal(await host.stop(), 0);
    await some();
    await host.start();
    const before = served(at);
    await until(() => served(at) > before);
  }
  stopped = true;
  await asking;
  t.same(wrong, [], `${requestCount} were answered`);
});
