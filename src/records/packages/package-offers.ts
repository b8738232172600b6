// Package offers: packages that a publisher offers to another account, which has not replied yet.
import type { PackageNamespace } from '#domain/packages/namespace.ts';
import { columns, sql, type Queries, type ReadQueries } from '#engine/database.ts';

export interface PackageOffer {
  packageId: string;
  /** The account that gets the offer. */
  accountId: string;
  offeredBy: string;
  offeredAt: string;
  expiresAt: string;
}

/** An offer with its package. */
export interface OfferOfPackage extends PackageOffer {
  namespace: PackageNamespace;
  name: string;
  type: string;
  /** User name of the other side: of the offering account in `to`, of the receiving account in `open`. */
  username: string;
}

const offerColumns = columns`
  package_id AS "packageId", account_id AS "accountId", offered_by AS "offeredBy", offered_at AS "offeredAt",
  expires_at AS "expiresAt"`;

export const packageOffers = (db: ReadQueries) => ({
  /** Finds the open offer of a package. */
  find: (packageId: string, now: string) =>
    db.get<PackageOffer>(sql`
      SELECT ${offerColumns} FROM package_offers WHERE package_id = ${packageId} AND expires_at > ${now}`),

  /** Lists the open offers to an account by package id, beginning after the id `after`. */
  to: (accountId: string, now: string, after: string, limit: number) =>
    db.all<OfferOfPackage>(sql`
      SELECT ${offerColumns}, package.namespace, package.name, package.type, giver.username
      FROM package_offers
      JOIN packages AS package ON package.id = package_id
      JOIN accounts AS giver ON giver.id = offered_by
      WHERE account_id = ${accountId} AND package_id > ${after} AND expires_at > ${now}
      ORDER BY package_id LIMIT ${limit}`),

  /** Lists all open offers by package name; a package has at most one. */
  open: (now: string) =>
    db.all<OfferOfPackage>(sql`
      SELECT ${offerColumns}, package.namespace, package.name, package.type, receiver.username
      FROM package_offers
      JOIN packages AS package ON package.id = package_id
      JOIN accounts AS receiver ON receiver.id = account_id
      WHERE expires_at > ${now}
      ORDER BY package.namespace, package.name`),

  anyEnded: async (now: string) =>
    undefined !== (await db.get(sql`SELECT 1 FROM package_offers WHERE expires_at <= ${now} LIMIT 1`)),
});

export const packageOfferChanges = (db: Queries) => ({
  ...packageOffers(db),

  /** Adds an offer. It replaces an earlier offer of the package. */
  set: (offer: PackageOffer) =>
    db.run(sql`
      INSERT INTO package_offers (package_id, account_id, offered_by, offered_at, expires_at)
      VALUES (${offer.packageId}, ${offer.accountId}, ${offer.offeredBy}, ${offer.offeredAt}, ${offer.expiresAt})
      ON CONFLICT (package_id) DO UPDATE SET account_id = excluded.account_id, offered_by = excluded.offered_by,
        offered_at = excluded.offered_at, expires_at = excluded.expires_at`),

  forgetEnded: (now: string, limit: number) =>
    db.run(sql`
      DELETE FROM package_offers WHERE package_id IN (
        SELECT package_id FROM package_offers WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${limit})`),

  /** Removes an offer. Returns false if there was none. */
  remove: async (packageId: string) =>
    0 < (await db.run(sql`DELETE FROM package_offers WHERE package_id = ${packageId}`)),
});
