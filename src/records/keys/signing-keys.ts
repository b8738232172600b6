// Signing keys of brands. The private half is stored sealed, or is in the device of the key manager.
import { sql, type Queries } from '#engine/database.ts';

export interface SigningKey {
  /** The key id: base64url of the SHA3-384 of the encoded public key. */
  sha3_384: string;
  brandAccountId: string;
  name: string;
  fingerprint: string;
  /** The encoded public key, as in the body of an assertion. */
  publicKey: string;
  /** The private half under the master key, or `managedKeyPrefix` and the name of the key in the key manager. */
  sealed: string;
  createdAt: string;
  createdBy: string;
  modifiedAt: string | null;
  modifiedBy: string | null;
  /** When its registration was first requested. */
  requestedAt: string | null;
}

/** How `sealed` begins for a key in the key manager; the name of the key there follows. */
export const managedKeyPrefix = 'larder-managed-key/1 ';

export interface ListedSigningKey extends Omit<SigningKey, 'sealed' | 'publicKey'> {
  /** The name in the key manager; null for a key that is sealed in this store. */
  managerKey: string | null;
}

export const signingKeys = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Finds a key with its sealed private half. */
  find: (sha3_384: string) =>
    db.get<SigningKey>(sql`
      SELECT sha3_384, brand_account_id AS "brandAccountId", name, fingerprint, public_key AS "publicKey", sealed,
        created_at AS "createdAt", created_by AS "createdBy", modified_at AS "modifiedAt", modified_by AS "modifiedBy",
        requested_at AS "requestedAt"
      FROM signing_keys WHERE sha3_384 = ${sha3_384}`),

  /** Finds a key without its private half. */
  publicHalf: (sha3_384: string) =>
    db.get<Omit<SigningKey, 'sealed'>>(sql`
      SELECT sha3_384, brand_account_id AS "brandAccountId", name, fingerprint, public_key AS "publicKey",
        created_at AS "createdAt", created_by AS "createdBy", modified_at AS "modifiedAt", modified_by AS "modifiedBy",
        requested_at AS "requestedAt"
      FROM signing_keys WHERE sha3_384 = ${sha3_384}`),

  /** Lists a brand's keys in the order of creation. */
  list: (brandAccountId: string) =>
    db.all<ListedSigningKey>(sql`
      SELECT sha3_384, brand_account_id AS "brandAccountId", name, fingerprint, created_at AS "createdAt",
        created_by AS "createdBy", modified_at AS "modifiedAt", modified_by AS "modifiedBy",
        requested_at AS "requestedAt",
        CASE WHEN sealed LIKE 'larder-managed-key/1 %' THEN substr(sealed, 22) END AS "managerKey"
      FROM signing_keys WHERE brand_account_id = ${brandAccountId} ORDER BY created_at, name`),

  /** Counts the keys that are sealed in this store, and the keys among them with a text that does not begin with `prefix`. */
  countSealedKeys: async (prefix: string) =>
    (await db.get<{ all: number; keys: number }>(sql`
      SELECT count(CASE WHEN sealed NOT LIKE 'larder-managed-key/1 %' THEN 1 END) AS "all",
        count(CASE WHEN sealed NOT LIKE 'larder-managed-key/1 %' AND sealed NOT LIKE ${`${prefix}%`} THEN 1 END)
        AS keys FROM signing_keys`))!,

  /** The id of a key in the key manager; null if there is none. */
  anyManaged: async () =>
    (await db.get<{ id: string | null }>(sql`
      SELECT min(CASE WHEN sealed LIKE 'larder-managed-key/1 %' THEN sha3_384 END) AS id FROM signing_keys`))!.id,

  hasName: async (brandAccountId: string, name: string) =>
    undefined !==
    (await db.get(sql`SELECT 1 FROM signing_keys WHERE brand_account_id = ${brandAccountId} AND name = ${name}`)),
});

export const signingKeyChanges = (db: Queries) => ({
  ...signingKeys(db),

  /** Adds a key. Returns false if the brand has one of that name. */
  claim: async (k: SigningKey) =>
    0 <
    (await db.run(sql`
      INSERT INTO signing_keys (sha3_384, brand_account_id, name, fingerprint, public_key, sealed, created_at, created_by)
      VALUES (${k.sha3_384}, ${k.brandAccountId}, ${k.name}, ${k.fingerprint}, ${k.publicKey}, ${k.sealed},
        ${k.createdAt}, ${k.createdBy})
      ON CONFLICT DO NOTHING`)),

  /** Records that its registration was requested. */
  request: (sha3_384: string, at: string) =>
    db.run(sql`
      UPDATE signing_keys SET requested_at = ${at} WHERE sha3_384 = ${sha3_384} AND requested_at IS NULL`),

  remove: (sha3_384: string) => db.run(sql`DELETE FROM signing_keys WHERE sha3_384 = ${sha3_384}`),
});
