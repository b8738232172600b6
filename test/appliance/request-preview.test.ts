// The preview of a request takes a scan of the store: a page does not wait for it, and asks again.
import t, { type Test } from 'tap';

import type { SiteRequestContent } from '#transfers/request/request-content.ts';
import { createTransferCommands } from '#src/appliance/commands/transfer-commands.ts';
import { until } from '#test/fixtures/until.ts';

const ada = { actor: 'ada' };
const visits = { continues: false };
const continues = { continues: true };

/** Commands under the control of the test, and an audit log of so many rows. */
function preparing(t: Test) {
  const begun: PromiseWithResolvers<{ request: SiteRequestContent }>[] = [];
  const state = { rows: 1 };
  const runShared = async <Output>(): Promise<Output> => {
    const command = Promise.withResolvers<{ request: SiteRequestContent }>();
    begun.push(command);
    return (await command.promise) as Output;
  };
  const never = (): never => {
    throw new Error('only previews are asked for');
  };
  const { previewRequest } = createTransferCommands(
    { runShared, runOnce: never, close: never },
    {
      directory: t.testdir(),
      now: () => new Date(0),
      records: { audit: { head: async () => ({ seq: state.rows, hash: '', at: '' }) } } as never,
    },
  );
  return { begun, state, preview: (how: { continues: boolean }) => previewRequest(ada, how) };
}

const request = (number: number): { request: SiteRequestContent } => ({
  request: {
    format: 1,
    site: 'here',
    keys: ['AAAA'],
    number,
    created: '2026-03-01T12:00:00.000Z',
    subscriptions: [],
    missing: [],
    lost: [],
    inventory: { kind: 'none', contents: [] },
    'key-requests': [],
    provenance: [],
    receipts: [],
    withheld: [],
  },
});

t.test('a page is shown before its preview is ready, and gets it when it is', async (t) => {
  const { begun, preview } = preparing(t);
  t.equal(await preview(visits), undefined);
  t.equal(await preview(continues), undefined);
  begun[0]!.resolve(request(1));
  t.match(await preview(continues), { title: 'Request 1 of here' });
  t.match(await preview(visits), { title: 'Request 1 of here' }, 'nothing has changed');
  t.equal(begun.length, 1);
});

t.test('a change of the store makes a new preview, and does not hold up a page that waits', async (t) => {
  const { begun, state, preview } = preparing(t);
  t.equal(await preview(visits), undefined);
  state.rows++;
  t.equal(await preview(continues), undefined);
  t.equal(begun.length, 1, 'a busy store shows its preview too');
  begun[0]!.resolve(request(1));
  const second = preview(visits);
  await until(() => begun.length === 2);
  begun[1]!.resolve(request(2));
  t.match(await second, { title: 'Request 2 of here' });
});

t.test('a preview that fails says so once, and is prepared again', async (t) => {
  const { begun, preview } = preparing(t);
  t.equal(await preview(visits), undefined);
  begun[0]!.reject(new Error('the disk fails'));
  await t.rejects(preview(continues), /the disk fails/);
  const again = preview(visits);
  await until(() => begun.length === 2);
  begun[1]!.resolve(request(1));
  t.match(await again, { title: 'Request 1 of here' });
});
