// A store that was killed proves by itself that it lost nothing.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import t from 'tap';

import { kill } from '#test/fixtures/processes/kill.ts';
import { larder, serve } from '#test/fixtures/processes/served.ts';

t.test('a store that was killed is looked over soon after its next start', async (t) => {
  const data = join(t.testdir(), 'data');
  await larder('init', '--data', data, '--base-url', 'http://127.0.0.1:8080');
  const proofs = async (): Promise<number> => {
    const { entries } = (await larder('audit', 'list', '--data', data)) as unknown as { entries: { action: string }[] };
    return entries.filter(({ action }) => action === 'verify_records').length;
  };
  for (const times of [1, 2]) {
    const server = await serve(data);
    while ((await proofs()) < times) await sleep(300);
    t.equal(await proofs(), times);
    await kill(server.process);
  }
});
