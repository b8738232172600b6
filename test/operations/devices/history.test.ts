// What channels held before is read once in a call, however many actions ask for it.
import t from 'tap';

import type { HandlerRecords } from '#api/handler-records.ts';
import { historyIn } from '#operations/devices/history.ts';

t.test('a snap that many actions name has its history read once', async (t) => {
  const read: string[] = [];
  const records = {
    pastReleases: {
      everHeld(id: string, channel: string) {
        read.push(`steps of ${id} in ${channel}`);
        return Promise.resolve([2, 1]);
      },
      heldAt(id: string, at: string) {
        read.push(`${id} at ${at}`);
        return Promise.resolve([]);
      },
    },
    revisions: { forDevices: () => undefined },
  } as unknown as Pick<HandlerRecords, 'pastReleases' | 'revisions'>;
  const history = historyIn(records);
  const madeAt = new Date('2026-11-22T00:00:00Z');
  for (let action = 0; action < 500; action++) {
    t.same(await history.steps('hello', 'latest/stable', ['amd64', 'all', '*'], undefined), []);
    t.same(await history.heldAt('hello', madeAt), []);
  }
  await history.steps('hello', 'latest/edge', ['amd64', 'all', '*'], undefined);
  await history.steps('hello', 'latest/stable', ['amd64', 'all', '*'], madeAt);
  await historyIn(records).heldAt('hello', madeAt);
  t.same(read, [
    'steps of hello in latest/stable',
    'hello at 2026-11-22T00:00:00.000Z',
    'steps of hello in latest/edge',
    'steps of hello in latest/stable',
    'hello at 2026-11-22T00:00:00.000Z',
  ]);
});
