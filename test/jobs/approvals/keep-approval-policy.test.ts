// The approval policy of the file while an earlier one is still being applied.
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';

import t from 'tap';

import type { Acts } from '#acts/act.ts';
import { createApprovalPolicyKeeper } from '#jobs/approvals/keep-approval-policy.ts';
import { readConfig } from '#configuration/config.ts';
import type { Health } from '#platform/health.ts';
import { askingSite } from '#test/fixtures/accounts/approvers.ts';

t.test('a policy that is applied slowly does not hide that a later one waits for approvals', async (t) => {
  const { store } = await askingSite(t);
  const { records, acts } = store.beside;
  const [begun, mayEnd] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  let calls = 0;
  const slow = {
    ...acts,
    do: async (...change: Parameters<Acts['do']>) => {
      const isFirst = calls++ === 0;
      const result = await acts.do(...change);
      begun.resolve(undefined);
      if (isFirst) await mayEnd.promise;
      return result;
    },
  } as Acts;
  const looks = new Map<string, () => unknown>();
  const health = { watch: (code: string, look: () => unknown) => void looks.set(code, look) } as unknown as Health;
  const present = readConfig(join(store.directory, 'larder.toml')).approvals;
  let approvals = { ...present, transfers: `2 of ${store.ids.bob}, ${store.ids['carol'] ?? ''}` };
  const keeper = createApprovalPolicyKeeper({ records, acts: slow, config: () => ({ approvals }), health });

  const first = keeper.takeUp();
  await begun.promise;
  approvals = { ...present, releases: [] };
  const second = keeper.takeUp();
  // Time enough for the second one to be applied, if it did not wait for the first.
  for (let turns = 0; turns < 1000; turns++) await setImmediate();
  mayEnd.resolve(undefined);
  await Promise.all([first, second]);
  t.match(await looks.get('approvals-not-in-force')!(), { because: /Waits for 2 more approvals/ });
});
