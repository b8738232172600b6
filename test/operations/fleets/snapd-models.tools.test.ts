// snapd's own client: devices of two models read two revisions from one channel. Needs Go and the library as Debian packages.
import t from 'tap';

import { buildClient, snapdClientMissing } from '#test/assertions/judge.ts';
import { withoutPackages } from '#test/fixtures/programs.ts';
import { pumpOf, startWithFleets } from './world.ts';

t.setTimeout(600_000);

t.test(
  'the snapd of two models sees two revisions of one channel, and waits for the window of its fleet',
  { skip: withoutPackages(...snapdClientMissing()) },
  async (t) => {
    const client = buildClient();
    const { store, id, fleet } = await startWithFleets(t);
    const sessionOf = async (model: string): Promise<string> => {
      const { 'snap-device-authorization': header = '' } = await pumpOf(store, model, '0001');
      return /root="(.+)"/.exec(header)?.[1] ?? '';
    };
    const [pump, mill] = [await sessionOf('pump'), await sessionOf('mill')];
    await fleet('create pumps --model acme/pump');
    await fleet('create mills --model acme/mill');
    const refreshed = async (...more: string[]) => {
      const { status, result, stderr } = await client(store.url, 'refresh', id, '1', 'latest/stable', ...more);
      return status === 0 ? (result['Revision'] as number) : stderr.trim();
    };
    t.same([await refreshed(pump), await refreshed(mill), await refreshed()], [3, 3, 3]);
    await fleet('pin pumps snap/hello stable 2');
    await fleet('follow mills snap/hello stable=candidate');
    t.same([await refreshed(pump), await refreshed(mill), await refreshed()], [2, 4, 3]);

    const today = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][store.clock.now.getUTCDay()]!;
    const other = today === 'Mon' ? 'Thu' : 'Mon';
    await fleet(`window pumps '${other} 00:00-24:00 UTC'`);
    t.match(await refreshed(pump, 'auto'), /no updates available/, 'snapd refreshes by itself outside the window');
    t.equal(await refreshed(pump), 2, 'a person refreshes by hand');
    await fleet(`window pumps 'daily 00:00-24:00 UTC'`);
    t.equal(await refreshed(pump, 'auto'), 2, 'inside the window');

    await fleet('clear pumps snap/hello stable');
    await fleet('hide pumps snap/hello');
    t.match(await refreshed(pump), /snap not found/);
    t.equal(await refreshed(mill), 4);
  },
);
