// The section about fleets in the guide for devices, typed as it is.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { larder } from '#test/cli/world.ts';
import { examplesIn, missingOutput } from '#test/fixtures/guides.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { pumpOf, refreshTo, startWithFleets } from '#test/operations/fleets/world.ts';

t.setTimeout(600_000);

t.test('the lines about fleets give devices the revisions that the guide promises', async (t) => {
  const { store, id, release } = await startWithFleets(t);
  for (const revision of [11, 12, 13])
    await addRevision(store, id, revision, { details: { architectures: ['amd64'] } });
  for (const [channel, revision] of [
    ['edge', 11],
    ['edge', null],
    ['candidate', 12],
    ['stable', 13],
  ] as const)
    await release(channel, revision);
  const list = join(store.directory, 'pilots.txt');
  writeFileSync(list, 'acme/pump/0002\n');
  const [set = [], ask = []] = examplesIn('devices', 'Other revisions for a fleet', 2);
  const typed = async (lines: readonly string[]): Promise<string> => {
    let printed = '';
    for (const line of lines) {
      const { code, out, err } = await larder(
        `${line.replace(/^larder /, '').replace('pilots.txt', list)} --data ${store.directory}`,
      );
      if (code !== 0) throw new Error(`${line}: ${err}`);
      printed += out;
    }
    return printed;
  };
  await typed(set);
  t.same(missingOutput('devices', 'Other revisions for a fleet', await typed(ask)), []);
  const revisionFor = async (serial: string) => refreshTo(store, id, { headers: await pumpOf(store, 'pump', serial) });
  t.same([await revisionFor('0001'), await revisionFor('0002'), await refreshTo(store, id)], [11, 12, 13]);
});
