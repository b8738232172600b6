// Loads and previews staged transfers, for the commands that show and accept them.
import type { TransferSelection } from '#acts/transfers/plan-types.ts';
import { readTrusted } from '#assertions/trusted-roots.ts';
import { withBlobs } from '#data/blobs.ts';
import { readRenaming } from '#domain/transfers/channel-renaming.ts';
import { isPackageGlob } from '#domain/packages/package-glob.ts';
import { acceptanceContextOf } from '#transfers/accept/desk.ts';
import {
  verifyReceived,
  inspectTransfer,
  findTransfer,
  type VerifiedTransfer,
  type TransferInspection,
} from '#transfers/accept/inspect.ts';
import { keepHeapSmall } from '#platform/small-heap.ts';
import { withSpillFile } from '../frame/with-spill-file.ts';
import { UsageError, type CommandCall, type CommandResult } from '../frame/command.ts';
import type { OpenStore } from '../frame/store.ts';

export const selectionOptions = {
  only: { type: 'string', value: 'GLOB', summary: 'Accept only these packages.', repeated: true },
  without: { type: 'string', value: 'GLOB', summary: 'Leave these packages out.', repeated: true },
  'as-channel': {
    type: 'string',
    value: 'FROM=TO',
    summary:
      'Release to another channel here, such as stable=stable/site-test. Without a track it applies to all tracks.',
    repeated: true,
  },
  older: {
    type: 'boolean',
    summary: 'Accept releases of larder that are not newer than the installed one.',
  },
} as const;

/** Reads the options of a selection. */
export function parseSelection({
  only,
  without,
  'as-channel': renamings,
  older,
}: CommandCall<typeof selectionOptions>['options']): TransferSelection {
  const wrong = [...only, ...without].find((glob) => !isPackageGlob(glob));
  if (wrong !== undefined) throw new UsageError(`'${wrong}' is not a glob of packages; write it as 'snap/*'`);
  const asChannel = renamings.map((renaming) => {
    const read = readRenaming(renaming);
    if (read !== undefined) return read;
    throw new UsageError(`'${renaming}' does not name two channels; write it as stable=stable/site-test`);
  });
  return { only, without, asChannel, mayBeOlder: older };
}

/** Builds the plan of a staged transfer, and passes it to `work`. */
export const withTransferPreview = (
  store: OpenStore,
  id: string,
  selection: TransferSelection,
  work: (seen: TransferInspection) => Promise<CommandResult>,
  isAdoption = false,
): Promise<CommandResult> =>
  withStagedTransfer(store, id, async (carried) => {
    const { site, labels } = await acceptanceContextOf(store);
    return work(await inspectTransfer(carried, selection, { ...store, site, labels, isAdoption }));
  });

/** Loads a staged transfer and verifies its assertions; long lists are in a spill file until the answer is printed. */
export async function withStagedTransfer(
  store: OpenStore,
  id: string,
  work: (waiting: VerifiedTransfer) => Promise<CommandResult>,
): Promise<CommandResult> {
  keepHeapSmall();
  const { records, now, config } = store;
  const roots = readTrusted(config.assertions.trusted);
  const transfer = await findTransfer(records, id);
  return withSpillFile(store.directory, async (spool) => {
    const brought = await withBlobs(store, ({ blobs }) =>
      verifyReceived(transfer, { records, blobs, roots, spool, now }),
    );
    return work(brought);
  });
}
