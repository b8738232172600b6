// Finds faults while the store serves, by the same rules as 'larder doctor'.
import { diskSpace } from '#data/blobs.ts';
import { certificateEnds, expiryFaults } from '#examinations/certificate.ts';
import { diskFaults, ownerFaults } from '#examinations/files.ts';
import { feedFaults } from '#examinations/feeds.ts';
import { masterKeyFaults } from '#examinations/keys.ts';
import { backupFaults, pendingFaults, tokenFaults } from '#examinations/records.ts';
import { jobFaults } from '#examinations/server.ts';
import { transferFaults } from '#examinations/transfers.ts';
import { damagedFacts } from '#integrity/blob-reports.ts';
import type { JobState } from '#jobs/runner.ts';
import { describeFault } from '#platform/faults.ts';
import { missingForExchange } from '#configuration/config.ts';
import { pendingWork } from '#transfers/pending.ts';
import type { Certificate } from '../certificate.ts';
import type { Current } from '../settings.ts';
import type { Storage } from '../storage.ts';

/** Watches the configuration, the disk, the keys and the records; a change shows in the next response. */
export function watchFaults(
  { health, store }: Pick<Storage, 'health' | 'store'>,
  { current, certificate }: { current: Current; certificate: Pick<Certificate, 'current' | 'settled' | 'unsigned'> },
): void {
  const { records, now } = store;
  health.watchAll('master-key', () => masterKeyFaults(records, current().masterKey));
  health.watch('administrator-credential', () => {
    const missing = missingForExchange(current().config) ?? [];
    return missing.length === 0 ? undefined : { missing };
  });
  health.watchAll('reserve', () => diskFaults(diskSpace(store.directory), current().config.uploads.reserve));
  health.watchAll('owner', () => ownerFaults(store.directory, 0));
  health.watchAll('certificate', async () => {
    // A reload does not wait for the certificate that it loads.
    await certificate.settled();
    const tls = certificate.current();
    const because = certificate.unsigned();
    return [
      ...(because === undefined ? [] : [describeFault('certificate-unsigned', { because })]),
      ...(tls === undefined ? [] : expiryFaults(certificateEnds(tls), now())),
    ];
  });
  const { server } = store.database;
  if (server !== undefined) {
    health.watch('database-open', async () => {
      const database = await server.openDatabase();
      return database === undefined ? undefined : { database };
    });
  }
  health.watch('damaged-blobs', () => damagedFacts(records));
  health.watchAll('backups', () => backupFaults({ ...store, config: current().config }));
  health.watchAll('transfers', () => transferFaults({ ...store, config: current().config }));
  health.watchAll('feeds', () => feedFaults({ ...store, config: current().config }));
  health.watchAll('tokens', () => tokenFaults(store));
  health.watchAll('pending', async () => pendingFaults(await pendingWork(records, now())));
}

/** Separate, because the jobs are built later than the rest. */
export const watchJobs = ({ health }: Pick<Storage, 'health'>, jobs: () => readonly JobState[]): void =>
  health.watchAll('jobs', () => jobFaults(jobs()));
