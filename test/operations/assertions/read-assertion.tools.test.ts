// snapd's own client reads assertions of this store. Needs Go and the library as Debian packages.
import t from 'tap';

import { buildClient, snapdClientMissing } from '#test/assertions/judge.ts';
import { madeElsewhere, timestamp } from '#test/assertions/world.ts';
import { withoutPackages } from '#test/fixtures/programs.ts';
import { bring, startForDevices } from '../devices/world.ts';

const skip = withoutPackages(...snapdClientMissing());
t.setTimeout(600_000);

t.test('snapd gets an assertion of a format that it knows, and takes the others for missing', { skip }, async (t) => {
  const client = buildClient();
  const { store } = await startForDevices(t);
  const ask = (...command: string[]) => client(store.url, ...command);
  const declaration = (id: string, format: string) =>
    madeElsewhere('store', 'authority', 'snap-declaration', {
      format,
      series: '16',
      'snap-id': id,
      'snap-name': 'hello',
      'publisher-id': 'acme',
      timestamp,
    });
  const [older, newer] = ['a'.repeat(32), 'b'.repeat(32)];
  await bring(store, [await declaration(older, '3'), await declaration(newer, '99')]);
  const missing = { status: 0, result: { NotFound: true } };
  t.match(await ask('assertion', 'snap-declaration', '16', older), { status: 0, result: { Format: 3, Revision: 0 } });
  t.match(await ask('assertion', 'snap-declaration', '16', newer), missing);
  t.match(await ask('assertion', 'repair', 'canonical', '1'), missing);
  t.match(await ask('sequence', 'repair', '0', 'canonical'), missing);
  t.match(await ask('assertion', 'account', 'nobody'), missing);
});
