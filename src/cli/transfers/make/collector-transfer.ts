// Writes the transfers of a collector.
import { resolve } from 'node:path';

import {
  deleteGathered,
  makeGatheredTransfer,
  findSent,
  nextSequence,
  type TransferRequestReference,
  type Collector,
} from '#transfers/make/collector.ts';
import type { CollectorExportContext } from '#transfers/make/collector-exports.ts';
import type { WrittenTransfer } from '#transfers/make/compose.ts';
import type { GatheredFolder } from '#transfers/gather/gather.ts';
import type { PartWriteOptions } from '#transfers/parts/part-files.ts';
import type { CommandResult, CommandCall } from '../../frame/command.ts';
import { interruptible } from '../../frame/interruption.ts';
import { withWriteErrors } from '../../frame/outside-files.ts';
import { createProgress } from '../../frame/progress.ts';
import { actorOf } from '../../frame/store.ts';
import { parseMedium } from '../parts.ts';
import { fileAt, formatMade, toIntent, type WritingOptions } from './writing-options.ts';

type CollectorCall = Pick<CommandCall, 'json' | 'quiet' | 'world'>;

/** Writes a transfer, and reports its content. */
export async function writeCollectorTransfer(
  collector: Collector,
  call: CollectorCall & { positionals: { file?: string | undefined }; options: { media: string | undefined } },
  work: (how: Omit<PartWriteOptions, 'content'> & { leaving: CollectorExportContext }) => Promise<WrittenTransfer>,
): Promise<CommandResult> {
  const progress = createProgress(call);
  const leaving = { exporter: actorOf(call.world), media: parseMedium(call.options.media), now: new Date() };
  try {
    const made = await interruptible((signal) =>
      withWriteErrors(call.positionals.file ?? '', () =>
        // A collector belongs to the caller, so the rights need no change.
        work({ asCaller: async (some) => some(), signal, progress: progress.at, leaving }),
      ),
    );
    return formatMade(made, collector.site.key.publicKey);
  } finally {
    progress.end();
  }
}

/** The file of a transfer that a collector writes; in a folder, it is named by the number of the transfer. */
export const newTransferFile = (collector: Collector, path: string, sequence = nextSequence(collector)): string =>
  fileAt(resolve(path), `${collector.site.name}-${String(sequence)}.tar`);

/** Writes a transfer of the gathered files, and reports its content. */
export async function writeGatheredTransfer(
  collector: Collector,
  folderContent: GatheredFolder,
  { file, siteRequest }: { file: string; siteRequest: TransferRequestReference | undefined },
  call: CollectorCall & { options: WritingOptions & { media: string | undefined } },
): Promise<CommandResult> {
  const intent = toIntent(call.options, {
    sentTo: async (site, contents) => findSent(collector, site, contents),
    siteRequest,
    file,
  });
  const answer = await writeCollectorTransfer(collector, { ...call, positionals: { file } }, (how) =>
    makeGatheredTransfer(folderContent, { ...intent, file }, { ...how, collector }),
  );
  deleteGathered(collector);
  return answer;
}
