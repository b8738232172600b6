// Changes of fleets wait for approvals, and approvers see the devices that they concern.
import t from 'tap';

import { approveProposal } from '#acts/approvals/proposals.ts';
import { askingSite } from '#test/fixtures/accounts/approvers.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

t.setTimeout(600_000);

t.test('an approval of a pin is for the devices that the fleet had when it was proposed', async (t) => {
  const { store, run } = await askingSite(t, 'releases = ["1 of B for snap/hello:*/stable"]');
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const revision of [1, 2]) await addRevision(store, id, revision);
  await ada.post(
    '/v1/snap/hello/releases',
    [1, 2].map((revision) => ({ channel: 'edge', revision })),
  );
  const fleet = async (line: string) => {
    const { code, err } = await run(`fleet ${line}`);
    return code === 0 ? 'done' : err;
  };
  const approve = (number: number) =>
    store.beside.acts.do(
      approveProposal,
      { actor: store.ids.bob },
      { number, login: { accountId: store.ids.bob, at: store.clock.now.toISOString() } },
    );
  const linesOf = async (number: number): Promise<string[]> =>
    (await store.beside.records.proposals.find(number))!.lines.map(
      ({ on, part, to }) => `${on} ${part ?? ''} ${to ?? ''}`,
    );
  await fleet('create pumps --model acme/pump');
  t.equal(await fleet('pin pumps snap/hello edge 1'), 'done', 'no rule covers edge');
  await fleet('clear pumps snap/hello edge');

  t.match(await fleet('pin pumps snap/hello stable 1'), 'Waits for 1 more approval (proposal 1,');
  t.same(await linesOf(1), [
    'snap/hello:latest/stable fleet pumps, all pinned to 1',
    'snap/hello:latest/stable fleet pumps, devices acme/pump',
  ]);
  t.equal(await fleet('add pumps acme/mill'), 'done', 'the fleet has no effect yet');
  await approve(1);
  t.match(await fleet('pin pumps snap/hello stable 1'), '(proposal 2,', 'for other devices it waits again');
  await approve(2);
  t.equal(await fleet('pin pumps snap/hello stable 1'), 'done');

  t.match(await fleet('add pumps acme/valve'), '(proposal 3,', 'now each device is approved');
  t.same(await linesOf(3), ['fleet/pumps acme/valve in the fleet']);
  t.match(await fleet("window pumps 'Sat 02:00-05:00 UTC'"), '(proposal 4,');
  t.match(await fleet('clear pumps snap/hello stable'), '(proposal 5,');
  t.match(await fleet('pin pumps snap/hello stable 2'), '(proposal 6,');
  await approve(6);
  t.equal(await fleet('pin pumps snap/hello stable 2'), 'done');
  t.same(await approve(5), { fell: true }, 'the channel is not as the proposal says');
  t.match(await fleet('delete pumps'), 'still changes what its devices get');
});
