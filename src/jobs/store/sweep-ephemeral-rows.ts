// Job that removes expired ephemeral rows: failed attempts, pending logins, leases. These never appear in the audit log.
import { minutes, timestamp, type Now } from '#domain/clock.ts';
import { firstMomentSeen } from '#records/fleets/seen-devices.ts';
import { rolloutRetentionStart } from '#records/releases/rollouts.ts';
import type { StoreRecords } from '#records/index.ts';
import { firstCountedMoment } from '#records/store/counters.ts';
import type { BackgroundJob } from '../runner.ts';

export const sweepEphemeralRows = (
  records: Pick<StoreRecords, 'ephemeral' | 'expiredRows'>,
  now: Now,
): BackgroundJob => ({
  name: 'forget-passing',
  inDoubt: 'waits',
  every: minutes(10),

  async run() {
    const moment = now();
    const at = timestamp(moment);
    if (!(await records.expiredRows.any(moment))) return { forgotten: 0 };
    const forgotten = await records.ephemeral(async (tx) => {
      const {
        deviceNonces,
        failures,
        leases,
        pendingLogins,
        openidLogins,
        certificateSessions,
        counters,
        packageDays,
        registryUploads,
        rollouts,
        seenDevices,
        transfers,
      } = tx;
      const counts = [
        await deviceNonces.sweep(at),
        await failures.sweep(at),
        await leases.sweep(at),
        await pendingLogins.sweep(at),
        await openidLogins.sweep(at),
        await certificateSessions.sweep(at),
        await counters.sweep(firstCountedMoment(moment)),
        await packageDays.sweep(moment),
        await registryUploads.sweep(at),
        await rollouts.sweep(rolloutRetentionStart(moment)),
        await seenDevices.sweep(firstMomentSeen(moment)),
        await transfers.sweep(at),
      ];
      return counts.reduce((sum, count) => sum + count, 0);
    });
    return { forgotten };
  },
});
