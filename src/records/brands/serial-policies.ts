// Serial policies: they name the key that signs the serials of a model.
import { columns, sql, type Queries } from '#engine/database.ts';

export interface SerialPolicy {
  brandAccountId: string;
  modelName: string;
  revision: number;
  signingKeySha3384: string;
  /** The account that owns the key: the brand, or another account that the brand's model authorizes. */
  authority: string;
  createdAt: string;
  createdBy: string;
}

const policyColumns = columns`
  policy.brand_account_id AS "brandAccountId", model_name AS "modelName", revision,
  signing_key_sha3_384 AS "signingKeySha3384", key.brand_account_id AS "authority",
  policy.created_at AS "createdAt", policy.created_by AS "createdBy"`;

export const serialPolicies = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Lists a model's policies, newest first. */
  list: (brandAccountId: string, modelName: string) =>
    db.all<SerialPolicy>(sql`
      SELECT ${policyColumns}
      FROM serial_policies AS policy JOIN signing_keys AS key ON key.sha3_384 = signing_key_sha3_384
      WHERE policy.brand_account_id = ${brandAccountId} AND model_name = ${modelName}
      ORDER BY revision DESC`),

  /** Returns the policy in force. */
  current: (brandAccountId: string, modelName: string) =>
    db.get<SerialPolicy>(sql`
      SELECT ${policyColumns}
      FROM serial_policies AS policy JOIN signing_keys AS key ON key.sha3_384 = signing_key_sha3_384
      WHERE policy.brand_account_id = ${brandAccountId} AND model_name = ${modelName}
      ORDER BY revision DESC LIMIT 1`),

  /** Lists the policies with a key, for models of any brand. */
  ofKey: (sha3_384: string) =>
    db.all<Pick<SerialPolicy, 'brandAccountId' | 'modelName' | 'revision'>>(sql`
      SELECT brand_account_id AS "brandAccountId", model_name AS "modelName", revision
      FROM serial_policies WHERE signing_key_sha3_384 = ${sha3_384}
      ORDER BY brand_account_id, model_name, revision`),

  /** Returns whether a key signs the serials of any model. */
  useKey: async (sha3_384: string) =>
    undefined !== (await db.get(sql`SELECT 1 FROM serial_policies WHERE signing_key_sha3_384 = ${sha3_384} LIMIT 1`)),
});

export const serialPolicyChanges = (db: Queries) => ({
  ...serialPolicies(db),

  /** Adds a policy under the next number, which is never reused. Returns the number. */
  async add(policy: Omit<SerialPolicy, 'revision' | 'authority'>): Promise<number> {
    const { brandAccountId, modelName } = policy;
    const model = await db.get<{ revision: number }>(sql`
      UPDATE models SET policies_made = policies_made + 1
      WHERE brand_account_id = ${brandAccountId} AND name = ${modelName}
      RETURNING policies_made AS revision`);
    if (model === undefined) throw new Error(`cannot add a serial policy: ${brandAccountId} has no model ${modelName}`);
    await db.run(sql`
      INSERT INTO serial_policies (brand_account_id, model_name, revision, signing_key_sha3_384, created_at, created_by)
      VALUES (${brandAccountId}, ${modelName}, ${model.revision}, ${policy.signingKeySha3384}, ${policy.createdAt},
        ${policy.createdBy})`);
    return model.revision;
  },

  /** Removes a policy. Returns false if there is none of that number. */
  remove: async (brandAccountId: string, modelName: string, revision: number) =>
    0 <
    (await db.run(sql`
      DELETE FROM serial_policies
      WHERE brand_account_id = ${brandAccountId} AND model_name = ${modelName} AND revision = ${revision}`)),
});
