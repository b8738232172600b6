// A board without a battery starts in the past; it verifies the certificates of the store with its clock. Needs Go as a
// Debian package.
import { join } from 'node:path';

import t from 'tap';

import { after, days } from '#domain/clock.ts';
import { now, trusted } from '#test/assertions/world.ts';
import { buildClient, snapdClientMissing } from '#test/assertions/judge.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { trusting } from '#test/fixtures/brands.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { withoutPackages } from '#test/fixtures/programs.ts';
import { acmesChain, keep, pumpDevice } from './world.ts';

const skip = withoutPackages(...snapdClientMissing());
t.setTimeout(600_000);

const overTls = (text: string): string =>
  text.replace('base_url = "http://127.0.0.1:8080"', 'base_url = "https://store.example.internal"');

t.test(
  'a device with a clock 299 days behind gets TLS and a session; one with 301 days does not',
  { skip },
  async (t) => {
    const client = buildClient('slowclock');
    const trusts = trusting(t, trusted);
    const store = await startStore(t, (text) => servingSnaps(overTls(trusts(text))), now);
    await keep(store, ...(await acmesChain()));
    const ca = join(store.directory, 'tls/ca.pem');
    const asOf = (behind: number) => (path: string, body: string) =>
      client(store.url, after(now, -days(behind)).toISOString(), ca, 'POST', path, body);

    const ask = asOf(299);
    const response = await ask('/api/v1/snaps/auth/nonces', '');
    t.match(response, { status: 0, result: { status: 200 } });
    const { nonce } = JSON.parse(response.result['body'] as string) as { nonce: string };
    const device = await pumpDevice(store.anyone);
    const sent = await device.texts({ nonce, timestamp: after(now, -days(299)).toISOString() });
    const session = await ask('/api/v1/snaps/auth/sessions', JSON.stringify(sent));
    t.match(session, { status: 0, result: { status: 200, body: /"macaroon":/ } });

    t.match(await asOf(301)('/api/v1/snaps/auth/nonces', ''), { status: 1, stderr: /expired or is not yet valid/ });
  },
);
