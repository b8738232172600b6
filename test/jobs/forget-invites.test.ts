// Invites and set-up links that ended long ago leave the records.
import t from 'tap';

import { days, timestamp } from '#domain/clock.ts';
import { forgetInvites } from '#jobs/forget-invites.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { footprint } from '#test/fixtures/footprint.ts';

t.test('what has ended can be looked back at for a while, and then it is forgotten', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { records, acts } = store.beside;
  const { account } = (await ada.get('/v1/tokens/whoami')).body as { account: { id: string } };
  const { id } = (await ada.post('/v1/bin', { name: 'hello' })).body as { id: string };
  const entry = () => ({ at: timestamp(store.clock.now), actor: 'test', action: 'fill', object: 'all' });
  const invite = { packageId: id, accountId: account.id, email: 'ada@example.com', createdBy: account.id };
  await records.change(entry(), async (tx) => {
    const now = store.clock.now.getTime();
    const at = (fromNow: number): string => timestamp(new Date(now + days(fromNow)));
    await tx.invites.add({ ...invite, tokenSha256: 'taken', createdAt: at(0), expiresAt: at(7) });
    await tx.invites.accept('taken', at(1));
    await tx.invites.add({ ...invite, tokenSha256: 'left', createdAt: at(0), expiresAt: at(7) });
    await tx.setUpLinks.set(account.id, 'link', at(3));
  });
  const job = forgetInvites(records, acts, { now: () => store.clock.now } as LatestTime);
  const rows = () => {
    const { invites, set_up_links: links } = footprint(store.directory);
    return { invites, links };
  };
  const before = rows();
  t.same(await job.run(), {});
  t.same(rows(), before);

  store.clock.advance(days(4));
  t.same(await job.run(), { invites: 0, setUpLinks: 1 }, 'a link that nobody used goes at once');
  store.clock.advance(days(92));
  const audited = footprint(store.directory)['audit'] as number;
  t.same(await job.run(), {});
  store.clock.advance(days(1));
  t.same(await job.run(), { invites: 1, setUpLinks: 0 });
  t.equal(rows().invites, 1, 'one that was accepted stays');
  t.equal(footprint(store.directory)['audit'], audited + 1, 'with an entry in the audit log');
  t.same(await job.run(), {});
  t.equal(footprint(store.directory)['audit'], audited + 1, 'and without one when nothing was due');
});
