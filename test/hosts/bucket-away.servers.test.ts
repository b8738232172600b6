// A host without its bucket refuses requests that need it, leaves the load balancer, and comes back by itself.

import t from 'tap';

import { startHosts } from '#test/fixtures/processes/hosts.ts';
import { until } from '#test/fixtures/until.ts';
import { ask } from '#test/fixtures/processes/workers.ts';

t.setTimeout(1_800_000);

t.test('the bucket is away, and returns', async (t) => {
  const { hosts, swift, token } = await startHosts(t, 1);
  const [host] = hosts;
  const form = '--f\r\ncontent-disposition: form-data; name="binary"; filename="a"\r\n\r\nhello\r\n--f--\r\n';
  const headers = { 'content-type': 'multipart/form-data; boundary=f' };
  const upload = () => ask(host!.url, '/unscanned-upload/', { method: 'POST', headers, body: Buffer.from(form) });
  t.match(await upload(), { status: 200 });

  await swift.stop();
  t.match(await upload(), { status: 503, text: /Try again in a few seconds/ });
  await until(async () => !(await host!.isReady()));
  t.match(await ask(host!.url, '/readyz'), { status: 503, text: /The bucket of the store does not work/ });
  const registered = { method: 'POST', headers: { authorization: `Macaroon ${token}` }, body: { name: 'hello' } };
  t.match(await ask(host!.url, '/v1/snap', registered), { status: 200 }, 'what needs no file goes on');

  await swift.start();
  await until(() => host!.isReady());
  // It has just come back, and may be slow at first.
  await until(async () => (await upload()).status === 200);
  t.equal(await host!.stop(), 0);
});
