// The results of rollouts on devices. They are written with the contacts of devices, in the same transaction.
import { toRolloutDevice, type RolloutDevice } from '#domain/releases/rollout.ts';
import { sql, type Queries } from '#engine/database.ts';
import type { ReportedRevision } from '../fleets/seen-devices.ts';

/** A rollout that counts reports of devices. */
export interface CountingRollout {
  number: number;
  packageId: string;
  channel: string;
  revision: number;
  step: number;
  judgedFrom: string;
}

/** The part of a contact of a device that rollouts count. */
interface RolloutContact {
  brand: string;
  model: string;
  serial: string;
  at: string;
  holds?: readonly ReportedRevision[];
  offers?: readonly (ReportedRevision & { channel: string; isHeld: boolean })[];
}

/** The rollouts that count reports now; usually none. */
export const countingRollouts = (db: Pick<Queries, 'all'>) =>
  db.all<CountingRollout>(sql`
    SELECT number, package_id AS "packageId", channel, revision, step, judged_from AS "judgedFrom"
    FROM rollouts WHERE state IN ('running', 'paused') ORDER BY number`);

/** Writes the results that a report of a device changes. A device without a result that was not offered the revision has none. */
export async function writeRolloutResults(
  db: Queries,
  { brand, model, serial, at, holds, offers = [] }: RolloutContact,
  counting: readonly CountingRollout[],
): Promise<void> {
  // A call without any snap, such as a download, says nothing about the installed ones.
  if (holds === undefined || holds.length === 0 || counting.length === 0) return;
  const rows = await db.all<RolloutDevice & { rollout: number }>(sql`
    SELECT rollout, step, had, state, since FROM passing_rollout_devices
    WHERE brand_id = ${brand} AND model = ${model} AND serial = ${serial}`);
  for (const { number, packageId, channel, revision, step, judgedFrom } of counting) {
    const before = rows.find(({ rollout }) => rollout === number);
    const offer = offers.find(
      (offered) => offered.packageId === packageId && offered.channel === channel && offered.revision === revision,
    );
    const holding = holds.find((held) => held.packageId === packageId)?.revision;
    const after = toRolloutDevice(before, {
      revision,
      step,
      judgedFrom,
      at,
      holds: holding,
      isOffered: offer !== undefined,
      isHeld: offer?.isHeld === true,
    });
    if (after === undefined || after === before) continue;
    await db.run(sql`
      INSERT INTO passing_rollout_devices (brand_id, model, serial, rollout, step, had, state, since)
      VALUES (${brand}, ${model}, ${serial}, ${number}, ${after.step}, ${after.had}, ${after.state}, ${after.since})
      ON CONFLICT (brand_id, model, serial, rollout) DO UPDATE SET state = excluded.state, since = excluded.since`);
  }
}
