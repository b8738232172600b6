// Finds out whether any ephemeral row has ended, so that a sweep without work writes nothing.
import { timestamp } from '#domain/clock.ts';
import { sql, type ReadQueries } from '#engine/database.ts';
import { firstCountedMoment } from './counters.ts';
import { firstDayKept } from '../packages/package-days.ts';
import { firstMomentSeen } from '../fleets/seen-devices.ts';
import { rolloutRetentionStart } from '../releases/rollouts.ts';

export const expiredRows = (db: ReadQueries) => ({
  any: async (now: Date) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM (
        SELECT day AS ends_at FROM package_days WHERE day < ${firstDayKept(now)}
        UNION ALL SELECT last_at FROM notes WHERE kind = 'image-upload' AND last_at < ${firstCountedMoment(now)}
        UNION ALL SELECT last_at FROM passing_seen_devices WHERE last_at < ${firstMomentSeen(now)}
        UNION ALL SELECT checked_at FROM passing_rollout_watches WHERE checked_at < ${rolloutRetentionStart(now)}
        UNION ALL SELECT ends_at FROM passing_failures WHERE ends_at <= ${timestamp(now)}
        UNION ALL SELECT ends_at FROM passing_familiar_places WHERE ends_at <= ${timestamp(now)}
        UNION ALL SELECT ends_at FROM passing_logins WHERE ends_at <= ${timestamp(now)}
        UNION ALL SELECT ends_at FROM passing_proofs WHERE ends_at <= ${timestamp(now)}
        UNION ALL SELECT ends_at FROM passing_codes WHERE ends_at <= ${timestamp(now)}
        UNION ALL SELECT ends_at FROM passing_openid_confirmations WHERE ends_at <= ${timestamp(now)}
        UNION ALL SELECT ends_at FROM passing_openid_sessions WHERE ends_at <= ${timestamp(now)}
        UNION ALL SELECT ends_at FROM passing_used_values WHERE ends_at <= ${timestamp(now)}
        UNION ALL SELECT ends_at FROM passing_registry_uploads WHERE ends_at <= ${timestamp(now)}
        UNION ALL SELECT ends_at FROM passing_device_nonces WHERE ends_at <= ${timestamp(now)}
        UNION ALL SELECT ends_at FROM passing_transfer_contents WHERE ends_at <= ${timestamp(now)}
        UNION ALL SELECT ends_at FROM passing_transfer_findings WHERE ends_at <= ${timestamp(now)}
        UNION ALL SELECT ends_at FROM passing_leases WHERE ends_at <= ${timestamp(now)}) AS passed LIMIT 1`)),
});
