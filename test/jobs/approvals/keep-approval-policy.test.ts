// The approval policy of the file while an earlier one is still being applied.
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';

import t from 'tap';

import type { Acts } from '#acts/act.ts';
import { createApprovalPolicyKeeper } from '#jobs/approvals/keep-approval-policy.ts';
import { readPolicy } from '#domain/approvals/approval-policy.ts';
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

t.test(
  'a host that still has the former file reports the stricter policy of another host and does not propose its own',
  async (t) => {
    const { store } = await askingSite(t);
    const { records, acts } = store.beside;
    const former = readConfig(join(store.directory, 'larder.toml')).approvals;
    const newer = { ...former, transfers: `2 of ${store.ids.bob}, ${store.ids['carol'] ?? ''}` };
    const hostWith = (approvals: typeof former) => {
      const looks = new Map<string, () => unknown>();
      const health = { watch: (code: string, look: () => unknown) => void looks.set(code, look) } as unknown as Health;
      const keeper = createApprovalPolicyKeeper({ records, acts, config: () => ({ approvals }), health });
      return { keeper, fault: () => looks.get('approvals-not-in-force')!() };
    };
    const [first, second] = [hostWith(newer), hostWith(former)];
    const openProposals = async () =>
      (await records.proposals.list({ before: 1000, openAt: new Date().toISOString() }, 10)).map(({ act }) => act);
    const transfersRule = async () => (await records.approvalPolicy.inForce()).rules.transfers !== undefined;
    await second.keeper.takeUp();
    t.equal(await second.fault(), undefined);

    await first.keeper.takeUp();
    t.ok(await transfersRule());
    await second.keeper.job.run();
    t.strictSame([await transfersRule(), await openProposals()], [true, []], 'it proposes nothing');
    t.match(await second.fault(), { because: /Another host has put another policy in force since/ });
    t.equal(await first.fault(), undefined);

    const at = new Date().toISOString();
    await records.change({ at, actor: 'test', action: 'test', object: 'approval policy' }, (tx) =>
      tx.approvalPolicy.set({ ...readPolicy(former), releases: [], rules: {} }, at),
    );
    await second.keeper.job.run();
    t.strictSame(await records.approvalPolicy.inForce(), readPolicy(former), 'a weaker one does not stay');
    await first.keeper.takeUp();

    await second.keeper.takeUp();
    t.strictSame(await openProposals(), ['change_approval_policy'], 'a person who reloads a host wants its file');
    t.match(await second.fault(), { because: /Waits for 2 more approvals/ });
  },
);
