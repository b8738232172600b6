// The ballast: its release while it is being written is not forgotten.
import t from 'tap';

import { keepRoom } from '#jobs/store/keep-room.ts';

t.test('a disk that fills while the ballast is written is full, and no longer once the ballast is back', async (t) => {
  let look: () => Promise<unknown> = () => Promise.resolve();
  const keeper = keepRoom(() => Promise.resolve(true), {
    report: () => undefined,
    watch: (_code, readFacts) => {
      look = readFacts as typeof look;
    },
  });
  const written = Promise.withResolvers<boolean>();
  let keepBallast = (): Promise<boolean> => written.promise;
  const job = keeper.job({ keepBallast: () => keepBallast(), free: () => Promise.resolve(1) });
  const running = job.run();
  await keeper.makeRoom();
  written.resolve(true);
  await running;
  t.same(await look(), {}, 'it was released since');
  keepBallast = () => Promise.resolve(true);
  await job.run();
  t.equal(await look(), undefined);
});
