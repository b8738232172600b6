// Ownership of packages: collaborators who leave, and transfers to another publisher.
import { parseAssertion } from '#assertions/format/assertion.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import type { Quota } from '#domain/accounts/quota.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { PackageOffer } from '#records/packages/package-offers.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { requireAccount } from '../accounts/accounts.ts';
import { act } from '../act.ts';
import { requireCurrentPackage, packageObject } from './package.ts';
import { refuseReceivedBeyond } from '../accounts/quotas.ts';

interface PackageTarget {
  package: PublishedPackage;
}

interface WithAccount extends PackageTarget {
  accountId: string;
}

/** The account that is to publish the package. */
interface WithPublisher extends WithAccount {
  /** The quota of publishers without a quota of their own. */
  defaultQuota: Quota;
}

const object = ({ package: subject }: PackageTarget): string => packageObject(subject);

export const removeCollaborator = act({
  name: 'remove_collaborator',
  summary: 'Remove a collaborator from a package.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'an account that must not collaborate has to lose access at once' },

  async perform(tx, { package: subject, accountId }: WithAccount, { note }): Promise<void> {
    note({ account: accountId });
    await requireCurrentPackage(tx, subject);
    if (await tx.collaborators.remove(subject.id, accountId)) return;
    throw new Refusal(
      'resource-not-found',
      `The account '${accountId.slice(0, 64)}' does not collaborate on ${packageObject(subject)}.`,
    );
  },
});

export const leavePackage = act({
  name: 'leave_package',
  summary: 'Stop collaborating on a package.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'an account gives up only its own rights' },

  async perform(tx, { package: subject, accountId }: WithAccount, { note }): Promise<void> {
    note({ account: accountId });
    if (await tx.collaborators.remove(subject.id, accountId)) return;
    throw new Refusal('resource-not-found', 'This account does not collaborate on the package.');
  },
});

/** The number of days after which an offer expires. */
const offerDays = 7;

export const offerPackage = act({
  name: 'offer_package',
  summary: 'Offer a package to another publisher, who accepts or rejects it.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'releases by the new publisher need the same approvals as all releases' },

  /** A later offer replaces an earlier one. */
  async perform(
    tx,
    { package: subject, accountId, offeredBy }: WithAccount & { offeredBy: string },
    { at, note },
  ): Promise<PackageOffer> {
    note({ account: accountId });
    const latest = await requireCurrentPackage(tx, subject);
    await refuseReceiver(tx, latest, accountId);
    const expiresAt = timestamp(after(new Date(at), days(offerDays)));
    const offer = { packageId: latest.id, accountId, offeredBy, offeredAt: at, expiresAt };
    await tx.packageOffers.set(offer);
    return offer;
  },
});

export const withdrawOffer = act({
  name: 'withdraw_package_offer',
  summary: 'Withdraw an offer of a package that was not answered yet.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'the offer was not answered yet' },

  async perform(tx, { package: subject }: PackageTarget): Promise<void> {
    if (!(await tx.packageOffers.remove(subject.id))) throw noOffer();
  },
});

export const acceptPackage = act({
  name: 'accept_package',
  summary: 'Accept an offered package and become its publisher.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'the publisher has decided to offer the package' },

  /** Needs an open offer of the package to this account. */
  async perform(tx, { package: subject, accountId, defaultQuota }: WithPublisher, { at, note }): Promise<void> {
    const offer = await tx.packageOffers.find(subject.id, at);
    const latest = await tx.packages.byId(subject.id);
    if (latest === undefined || offer?.accountId !== accountId) throw noOffer();
    note({ from: latest.publisherId, to: accountId });
    await handOver(tx, latest, { accountId, defaultQuota });
  },
});

export const rejectPackage = act({
  name: 'reject_package',
  summary: 'Reject an offered package; it stays with its publisher.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'only the account that it is offered to can decide' },

  async perform(tx, { package: subject, accountId }: WithAccount, { at, note }): Promise<void> {
    note({ account: accountId });
    if ((await tx.packageOffers.find(subject.id, at))?.accountId !== accountId) throw noOffer();
    await tx.packageOffers.remove(subject.id);
  },
});

export const handOverPackage = act({
  name: 'hand_over_package',
  summary: 'Make another account the publisher of a package.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'releases by the new publisher need the same approvals as all releases' },

  async perform(
    tx,
    { package: subject, accountId, defaultQuota }: WithPublisher,
    { note },
  ): Promise<{ before: string }> {
    const latest = await requireCurrentPackage(tx, subject);
    note({ from: latest.publisherId, to: accountId });
    await handOver(tx, latest, { accountId, defaultQuota });
    return { before: latest.publisherId };
  },
});

const noOffer = (): Refusal =>
  new Refusal('resource-not-found', 'There is no such package, or it is no longer offered to this account.');

/**
 * The new publisher gets the whole package and loses any collaboration, invite or offer for it. The old publisher loses
 * all access. Refused if the new publisher would exceed their quota.
 */
async function handOver(
  tx: ChangeRecords,
  subject: PublishedPackage,
  { accountId, defaultQuota }: Pick<WithPublisher, 'accountId' | 'defaultQuota'>,
): Promise<void> {
  await refuseReceiver(tx, subject, accountId);
  const before = await tx.quotas.bytes(accountId);
  await tx.packages.setPublisher(subject.id, accountId);
  await refuseReceivedBeyond(tx, { publisherId: accountId, defaultQuota, before });
  await tx.collaborators.remove(subject.id, accountId);
  await tx.invites.removeOpen(subject.id, accountId);
  await tx.packageOffers.remove(subject.id);
}

/** Refuses an account that cannot become the publisher. A declared snap belongs to the publisher in its declaration. */
async function refuseReceiver(
  tx: ChangeRecords,
  { id, namespace, name, publisherId }: PublishedPackage,
  accountId: string,
) {
  const { username } = await requireAccount(tx, accountId);
  if (accountId === publisherId) throw new Refusal('conflict', `${username} publishes '${name}' already.`);
  if ((await tx.accounts.disabledAt(accountId)) !== null) {
    throw new Refusal('conflict', `The account ${accountId} (${username}) is disabled.`);
  }
  if (namespace !== 'snap') return;
  for (const { text } of await tx.assertions.ofSnap(name)) {
    const { headers } = parseAssertion(text);
    if (headers['snap-id'] !== id || headers['publisher-id'] === accountId) continue;
    throw new Refusal(
      'conflict',
      `The snap-declaration of '${name}' names the account ${headers['publisher-id'] as string} as its publisher. ` +
        'First import a snap-declaration that names the new publisher.',
    );
  }
}
