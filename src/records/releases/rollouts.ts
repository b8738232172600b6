// Rollouts: the plan of a progressive release, its present step, and how it ended.
import { after, days, timestamp } from '#domain/clock.ts';
import type { RolloutPlan } from '#domain/releases/rollout.ts';
import { columns, likePattern, sql, type Queries } from '#engine/database.ts';

/** `done`: all devices get the revision. `ended`: another change of the channel ended it. */
export type RolloutState = 'running' | 'paused' | 'done' | 'rolled-back' | 'ended';

export interface Rollout {
  number: number;
  packageId: string;
  /** The channel's full name. */
  channel: string;
  revision: number;
  plan: RolloutPlan;
  state: RolloutState;
  /** The present step, from 0. */
  step: number;
  /** RFC 3339. */
  stepAt: string;
  /** Results before this time do not count: the start, or the last time that a person resumed it. */
  judgedFrom: string;
  /** Why it is paused, or why it ended. */
  because: string | null;
  /** The lines of vulnerabilities that people saw when it started or was resumed. A further one pauses it. */
  acceptedVulnerabilities: readonly string[];
  startedAt: string;
  /** The actor, as in the audit log. */
  startedBy: string;
  changedAt: string;
  changedBy: string;
}

type NewRollout = Pick<Rollout, 'packageId' | 'channel' | 'revision' | 'plan' | 'startedAt' | 'startedBy'> &
  Partial<Pick<Rollout, 'acceptedVulnerabilities'>>;

/** A rollout that has not ended in the records. */
export interface OpenRollout extends Rollout {
  /** How many slots of the channel hold its release; 0 if another change has ended it. */
  slots: number;
}

/** A paused rollout with the name of its package. */
export interface PausedRollout extends Rollout {
  namespace: string;
  name: string;
}

/** How long the store has run in the present step. */
export interface RolloutWatch {
  rollout: number;
  stepAt: string;
  checkedAt: string;
  servedMs: number;
  /** How long the store did not run since the start of the rollout. */
  awayMs: number;
}

/** How many devices have a result, by the step of their offer. */
export interface RolloutCount {
  step: number;
  state: 'offered' | 'took' | 'held' | 'failed' | 'back';
  /** Whether the devices have not called for a while. `accepted`: they were silent when a person resumed the rollout. */
  silence: 'calls' | 'silent' | 'accepted';
  /** Whether the result is newer than the last time that a person resumed the rollout. */
  isJudged: boolean;
  devices: number;
}

/** The results of a rollout are deleted this long after its last check. */
const resultRetentionMs = days(90);

export const rolloutRetentionStart = (now: Date): string => timestamp(after(now, -resultRetentionMs));

type RolloutRow<Of> = Omit<Of, 'plan' | 'acceptedVulnerabilities'> & { plan: string; accepted: string };

const asRollout = <Of extends Rollout>({ plan, accepted, ...row }: RolloutRow<Of>): Of =>
  ({
    ...row,
    plan: JSON.parse(plan) as RolloutPlan,
    acceptedVulnerabilities: JSON.parse(accepted) as string[],
  }) as unknown as Of;

const rolloutColumns = columns`
  number, package_id AS "packageId", channel, revision, plan, state, step, step_at AS "stepAt", judged_from AS "judgedFrom",
  because, accepted_vulnerabilities AS accepted, started_at AS "startedAt", started_by AS "startedBy", changed_at AS "changedAt", changed_by AS "changedBy"`;

/** The people to notify are the end of a plan, so that the name of another member is no name of an account. */
const notifyPattern = (username: string): string => likePattern('"notify":[') + likePattern(`"${username}"`);

const watchColumns = columns`rollout, step_at, checked_at, served_ms, away_ms`;

export const rollouts = (db: Pick<Queries, 'get' | 'all'>) => ({
  async find(number: number): Promise<Rollout | undefined> {
    const row = await db.get<RolloutRow<Rollout>>(sql`SELECT ${rolloutColumns} FROM rollouts WHERE number = ${number}`);
    return row && asRollout(row);
  },

  /** Lists the rollouts of a package with a number below `before`, newest first. */
  async ofPackage(packageId: string, before: number, limit: number): Promise<Rollout[]> {
    const rows = await db.all<RolloutRow<Rollout>>(sql`
      SELECT ${rolloutColumns} FROM rollouts WHERE package_id = ${packageId} AND number < ${before}
      ORDER BY number DESC LIMIT ${limit}`);
    return rows.map(asRollout);
  },

  /** Lists the running and paused rollouts of all packages, oldest first. */
  async open(limit: number): Promise<OpenRollout[]> {
    const rows = await db.all<RolloutRow<OpenRollout>>(sql`
      SELECT ${rolloutColumns}, (
        SELECT count(*) FROM releases
        WHERE releases.package_id = rollouts.package_id AND releases.channel = rollouts.channel
          AND releases.rollout = rollouts.number) AS slots
      FROM rollouts WHERE state IN ('running', 'paused') ORDER BY number LIMIT ${limit}`);
    return rows.map(asRollout);
  },

  /** Lists paused rollouts for an account: all if it oversees the store, else of its packages, and if the plan notifies it. */
  async paused(
    { accountId, username, oversees }: { accountId: string; username: string; oversees: boolean },
    limit: number,
  ): Promise<PausedRollout[]> {
    const rows = await db.all<RolloutRow<PausedRollout>>(sql`
      SELECT ${rolloutColumns},
        (SELECT namespace FROM packages WHERE id = rollouts.package_id) AS namespace,
        (SELECT name FROM packages WHERE id = rollouts.package_id) AS name
      FROM rollouts
      WHERE state = 'paused' AND state IN ('running', 'paused') AND (
        ${Number(oversees)} = 1 OR plan LIKE ${notifyPattern(username)} ESCAPE '\\'
        OR EXISTS (SELECT 1 FROM packages WHERE id = rollouts.package_id AND publisher_id = ${accountId})
        OR EXISTS (SELECT 1 FROM collaborators WHERE collaborators.package_id = rollouts.package_id AND account_id = ${accountId}))
      ORDER BY number LIMIT ${limit}`);
    return rows.map(asRollout);
  },

  /** Returns how long the store has run in the present step; undefined if it was restored from a backup since the start. */
  watch: (rollout: number) =>
    db.get<RolloutWatch>(sql`
      SELECT rollout, step_at AS "stepAt", checked_at AS "checkedAt", served_ms AS "servedMs", away_ms AS "awayMs"
      FROM passing_rollout_watches WHERE rollout = ${rollout}`),

  /**
   * Counts the devices of a rollout by step, state and silence. A device is `silent` if its last call was before `silentBefore`;
   * its silence is `accepted` if the last call was before `acceptedBefore`.
   */
  async results(
    { number, judgedFrom }: Pick<Rollout, 'number' | 'judgedFrom'>,
    silentBefore: string,
    acceptedBefore: string,
  ): Promise<RolloutCount[]> {
    const rows = await db.all<Omit<RolloutCount, 'isJudged'> & { isJudged: 0 | 1 }>(sql`
      SELECT step, state, silence, "isJudged", count(*) AS devices
      FROM (
        SELECT device.step AS step, device.state AS state,
          CASE WHEN device.since >= ${judgedFrom} THEN 1 ELSE 0 END AS "isJudged",
          CASE WHEN coalesce(seen.last_at, '') >= ${silentBefore} THEN 'calls'
            WHEN coalesce(seen.last_at, '') >= ${acceptedBefore} THEN 'silent' ELSE 'accepted' END AS silence
        FROM passing_rollout_devices AS device
        LEFT JOIN passing_seen_devices AS seen
          ON seen.brand_id = device.brand_id AND seen.model = device.model AND seen.serial = device.serial
        WHERE device.rollout = ${number}) AS results
      GROUP BY step, state, silence, "isJudged"
      ORDER BY step, state`);
    return rows.map(({ isJudged, ...row }) => ({ ...row, isJudged: isJudged === 1 }));
  },
});

export const rolloutChanges = (db: Queries) => ({
  ...rollouts(db),

  /** Adds a rollout, and begins to count the time that the store runs. Returns its number. */
  async add({
    packageId,
    channel,
    revision,
    plan,
    startedAt: at,
    startedBy: actor,
    acceptedVulnerabilities = [],
  }: NewRollout): Promise<number> {
    const { number } = (await db.get<{ number: number }>(sql`
      INSERT INTO rollouts (number, package_id, channel, revision, plan, state, step, step_at, judged_from,
        accepted_vulnerabilities, started_at, started_by, changed_at, changed_by)
      SELECT coalesce(max(number), 0) + 1, ${packageId}, ${channel}, ${revision}, ${JSON.stringify(plan)}, 'running', 0, ${at},
        ${at}, ${JSON.stringify(acceptedVulnerabilities)}, ${at}, ${actor}, ${at}, ${actor}
      FROM rollouts RETURNING number`))!;
    await db.write(sql`
      INSERT INTO passing_rollout_watches (${watchColumns})
      VALUES (${number}, ${at}, ${at}, 0, 0)`);
    return number;
  },

  /** Changes the state of a rollout. */
  update: (r: Omit<Rollout, 'packageId' | 'channel' | 'revision' | 'plan' | 'startedAt' | 'startedBy'>) =>
    db.write(sql`
      UPDATE rollouts SET state = ${r.state}, step = ${r.step}, step_at = ${r.stepAt}, judged_from = ${r.judgedFrom},
        because = ${r.because}, accepted_vulnerabilities = ${JSON.stringify(r.acceptedVulnerabilities)}, changed_at = ${r.changedAt}, changed_by = ${r.changedBy}
      WHERE number = ${r.number}`),
});

export const ephemeralRollouts = (db: Queries) => ({
  keepWatch: (w: RolloutWatch) =>
    db.write(sql`
      INSERT INTO passing_rollout_watches (${watchColumns})
      VALUES (${w.rollout}, ${w.stepAt}, ${w.checkedAt}, ${w.servedMs}, ${w.awayMs})
      ON CONFLICT (rollout) DO UPDATE
      SET step_at = excluded.step_at, checked_at = excluded.checked_at, served_ms = excluded.served_ms,
        away_ms = excluded.away_ms`),

  /** Deletes the results of ended rollouts that were last checked before a time. Returns the number of deleted results. */
  async sweep(before: string): Promise<number> {
    const ended = await db.all<{ rollout: number }>(sql`
      SELECT rollout FROM passing_rollout_watches WHERE checked_at < ${before}`);
    let devices = 0;
    for (const { rollout } of ended) {
      devices += await db.run(sql`DELETE FROM passing_rollout_devices WHERE rollout = ${rollout}`);
      await db.write(sql`DELETE FROM passing_rollout_watches WHERE rollout = ${rollout}`);
    }
    return devices;
  },
});
