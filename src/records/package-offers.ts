// Package offers: packages that their publishers would hand to somebody else, who has not answered yet.
import type { Namespace } from '#domain/namespace.ts';
import { columns, sql, type Queries, type Reading } from '#engine/database.ts';

export interface PackageOffer {
  packageId: string;
  /** To whom. */
  accountId: string;
  offeredBy: string;
  offeredAt: string;
  expiresAt: string;
}

/** One with the package it is of. */
export interface OfferOfPackage extends PackageOffer {
  namespace: Namespace;
  name: string;
  type: string;
  /** Of the other side: of whoever offers it to whom it is offered, and of the receiver to everybody else. */
  username: string;
}

const offerColumns = columns`
  package_id AS "packageId", account_id AS "accountId", offered_by AS "offeredBy", offered_at AS "offeredAt",
  expires_at AS "expiresAt"`;

export const packageOffers = (db: Reading) => ({
  /** That of a package, while it can be answered. */
  find: (packageId: string, now: string) =>
    db.get<PackageOffer>(sql`
      SELECT ${offerColumns} FROM package_offers WHERE package_id = ${packageId} AND expires_at > ${now}`),

  /** What an account is offered, in the order of the packages' ids, behind one of them. */
  to: (accountId: string, now: string, after: string, limit: number) =>
    db.all<OfferOfPackage>(sql`
      SELECT ${offerColumns}, package.namespace, package.name, package.type, giver.username
      FROM package_offers
      JOIN packages AS package ON package.id = package_id
      JOIN accounts AS giver ON giver.id = offered_by
      WHERE account_id = ${accountId} AND package_id > ${after} AND expires_at > ${now}
      ORDER BY package_id LIMIT ${limit}`),

  /** Whatever is offered to anybody: one a package at most, in the order of their names. */
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

  /** Offers a package; an earlier offer of it is void. */
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

  /** False where there was none. */
  remove: async (packageId: string) =>
    0 < (await db.run(sql`DELETE FROM package_offers WHERE package_id = ${packageId}`)),
});
