// Invites, set-up links and offers that ended leave the records, and so do credentials to pull that ended long ago.
import t from 'tap';

import { endPullCredential } from '#acts/images/credentials.ts';
import { days, timestamp } from '#domain/clock.ts';
import { forgetInvites } from '#jobs/packages/forget-invites.ts';
import { forgetPullCredentials } from '#jobs/images/forget-pull-credentials.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { footprint } from '#test/fixtures/footprint.ts';

t.test('ended invites stay visible for a while, and then are forgotten', async (t) => {
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
    const offer = { packageId: id, accountId: store.ids.bob, offeredBy: account.id };
    await tx.packageOffers.set({ ...offer, offeredAt: at(0), expiresAt: at(7) });
  });
  const job = forgetInvites(records, acts, { now: () => store.clock.now } as LatestTime);
  const rows = () => {
    const { invites, set_up_links: links, package_offers: offers } = footprint(store.directory);
    return { invites, links, offers };
  };
  const before = rows();
  t.same(await job.run(), {});
  t.same(rows(), before);

  store.clock.advance(days(4));
  t.same(await job.run(), { invites: 0, setUpLinks: 1, offers: 0 }, 'a link that nobody used goes at once');
  store.clock.advance(days(3));
  t.same(await job.run(), { invites: 0, setUpLinks: 0, offers: 1 }, 'and so does an offer');
  t.equal(rows().offers, 0);
  store.clock.advance(days(89));
  const audited = footprint(store.directory)['audit'] as number;
  t.same(await job.run(), {});
  store.clock.advance(days(1));
  t.same(await job.run(), { invites: 1, setUpLinks: 0, offers: 0 });
  t.equal(rows().invites, 1, 'one that was accepted stays');
  t.equal(footprint(store.directory)['audit'], audited + 1, 'with an entry in the audit log');
  t.same(await job.run(), {});
  t.equal(footprint(store.directory)['audit'], audited + 1, 'and without one when nothing was due');
});

t.test('so do ended pull credentials', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { records, acts } = store.beside;
  const { id } = (await ada.post('/v1/charm', { name: 'hello' })).body as { id: string };
  const at = (fromNow: number): string => timestamp(new Date(store.clock.now.getTime() + days(fromNow)));
  await records.change({ at: at(0), actor: 'test', action: 'fill', object: 'all' }, async (tx) => {
    for (const name of ['ended', 'ending', 'standing']) {
      const issued = { id: name, secretSha256: name, sealedSecret: name, issuedAt: at(0) };
      await tx.imageCredentials.addToPull({ packageId: id, resource: name }, issued);
    }
  });
  for (const [name, end] of [
    ['ended', 0],
    ['ending', 30],
  ] as const) {
    await acts.do(endPullCredential, { actor: 'test' }, { id: name, moment: at(0), endsAt: at(end) });
  }
  const job = forgetPullCredentials(records, acts, { now: () => store.clock.now } as LatestTime);
  const listed = async () => (await records.imageCredentials.listToPull('', 9)).map((credential) => credential.id);
  store.clock.advance(days(90) - 1);
  const before = footprint(store.directory);
  t.same([await job.run(), footprint(store.directory)], [{ forgotten: 0 }, before]);
  store.clock.advance(1);
  t.same([await job.run(), await listed()], [{ forgotten: 1 }, ['ending', 'standing']]);
  t.equal(footprint(store.directory)['audit'], (before['audit'] as number) + 1);
  store.clock.advance(days(365));
  t.same([await job.run(), await listed()], [{ forgotten: 1 }, ['standing']], 'what nobody has ended stands for ever');
});
