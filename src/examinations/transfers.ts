// Examines whether the expected transfers from other sites arrive.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { waitReasonSubject } from '#acts/transfers/automatic.ts';
import { days } from '#domain/clock.ts';
import type { StoreHandle } from '#data/store.ts';
import type { Config } from '#configuration/config.ts';
import { describeFault, type Fault } from '#platform/faults.ts';
import { formerStoreFolder, formerStoreName } from '#transfers/former-store.ts';
import { findingOfFaults, type Examination } from './examination.ts';

export const transfers: Examination = {
  subject: 'Transfers',
  async look({ config, data, store }) {
    const settings = config();
    const { records, now } = await store();
    const last = await records.transfers.lastSettled();
    return findingOfFaults(
      await transferFaults({ records, now, directory: data, config: settings }),
      settings.transfers.expected_days === undefined
        ? 'none is expected (transfers.expected_days is not set)'
        : `the last was accepted at ${last ?? 'no time'}`,
    );
  },
};

/** The faults of transfers: keys of sources, a transfer that waits although it should be accepted automatically, an overdue transfer. */
export async function transferFaults({ records, now, directory, config }: TransferContext): Promise<Fault[]> {
  return [...(await keyFaults({ records, directory })), ...(await waitingFaults({ records, now, config }))];
}

async function keyFaults({ records, directory }: Pick<TransferContext, 'records' | 'directory'>): Promise<Fault[]> {
  const folder = join(directory, formerStoreFolder);
  const copied = (await records.transferSources.list()).filter(({ keyCopiedAt }) => keyCopiedAt !== null);
  return [
    ...(existsSync(folder) ? [describeFault('former-store-key', { folder, source: formerStoreName })] : []),
    ...copied.slice(0, 1).map(({ name }) => describeFault('source-key-copied', { source: name })),
  ];
}

async function waitingFaults({ records, now, config }: Omit<TransferContext, 'directory'>): Promise<Fault[]> {
  for (const { id, source, sequence } of await records.transfers.waiting(maxExaminedTransfers)) {
    const because = (await records.transfers.finding(id, waitReasonSubject))?.refused ?? undefined;
    if (because !== undefined) return [describeFault('transfer-held', { id, source, sequence, because })];
  }
  const expected = config.transfers.expected_days;
  if (expected === undefined) return [];
  const last = await records.transfers.lastSettled();
  const since = last === null ? undefined : Math.floor((now().getTime() - Date.parse(last)) / days(1));
  if (since !== undefined && since < expected) return [];
  return [describeFault('transfer-overdue', { days: since, expected })];
}

type TransferContext = Pick<StoreHandle, 'records' | 'now' | 'directory'> & { config: Pick<Config, 'transfers'> };

/** The maximum of waiting transfers that are examined. */
const maxExaminedTransfers = 100;
