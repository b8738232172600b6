// larder transfer receive
import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { refuseUnsigned } from '#acts/transfers/acceptance-conditions.ts';
import { wholeTransfer } from '#acts/transfers/plan-types.ts';
import { withBlobs } from '#data/blobs.ts';
import { keepHeapSmall } from '#platform/small-heap.ts';
import { receive, type TransferReceiveResult } from '#transfers/receive/receive.ts';
import { formatNames } from '#transfers/parts/unpacked-folder.ts';
import { parseReceipt } from '#transfers/accept/receipts.ts';
import { presentPreview, buildPreviewReport } from '#transfers/accept/report.ts';
import { fingerprintOf, siteOf, type Site, shortId } from '#transfers/site.ts';
import { beginUnsigned, unsignedParts } from '#transfers/receive/unsigned.ts';
import type { OpenPart } from '#transfers/parts/open-part.ts';
import { formatCount } from '#domain/quantities.ts';
import { command, extendAnswer, Failure, UsageError, type CommandResult, type CommandCall } from '../frame/command.ts';
import { interruptible } from '../frame/interruption.ts';
import { toReadFailure } from '../frame/outside-files.ts';
import { createProgress } from '../frame/progress.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { siteKeysOf } from '../keys/find-keys.ts';
import { visible } from '../frame/terminal.ts';
import { withReviewer } from '../uploads/reviewer.ts';
import { formatGathered, requireFolder, gatherFolder } from './make/gather.ts';
import { acceptIfAutomatic, receptionContextOf } from './reception.ts';
import { withTransferPreview } from './staged-transfer.ts';
import { media, parseMedium, withParts } from './parts.ts';
import { renderReportText } from './report.ts';
import { withUploadedPart } from './uploaded-part.ts';

export const transferReceive = command({
  name: 'transfer receive',
  summary:
    'Receive the parts of a transfer. The transfer then waits, and nothing of it is visible before it is ' +
    'accepted.',
  description:
    'Parts can be received in any order and at different times; received parts are not read again. Run an ' +
    'interrupted command again to resume it. Each package is reviewed. Exit code 1 means that parts are missing.',
  positionals: [
    {
      name: 'parts',
      value: 'PART',
      summary: 'The parts, the folder with them, or the folder with the unpacked transfer.',
      repeated: true,
    },
  ],
  options: {
    media,
    unsigned: {
      type: 'boolean',
      summary:
        'Receive an unsigned folder that official tools or a collector have filled. The user that owns the store ' +
        'must be able to read it. It is received only if the approval policy covers such folders.',
    },
    release: {
      type: 'string',
      value: 'CHANNEL',
      summary: 'With --unsigned: the channel for snaps if no file in the folder names one.',
      repeated: true,
    },
    preview: {
      type: 'boolean',
      summary:
        'Show also the preview, if the transfer is complete. Exit code 1 then means that something prevents ' +
        'acceptance.',
    },
    'last-receipt': {
      type: 'string',
      value: 'FILE',
      summary: 'After a restore: the receipt of the last accepted transfer of this source.',
    },
    upload: {
      type: 'string',
      value: 'ID',
      summary: 'Instead of PART: read the file from this upload; repeat it for the pieces of one file, in order.',
      repeated: true,
    },
    'floor-lost': {
      type: 'boolean',
      summary: 'After a restore, if there is no such receipt: continue without it, as far as the policy permits.',
    },
  },
  examples: [
    'larder transfer receive /media/stick --media disc-17',
    'larder transfer receive /media/stick --preview',
    'larder transfer receive ./in.2of3.tar',
    'larder transfer receive --unsigned ./fetched --release stable',
  ],

  run(call) {
    const { parts: paths, unsigned, release, upload: uploads } = { ...call.positionals, ...call.options };
    if (release.length > 0 && !unsigned) throw new UsageError('--release needs --unsigned');
    if (uploads.length > 0 && (unsigned || paths.length > 0))
      throw new UsageError('--upload takes the place of PART and --unsigned');
    // Before the records are opened: the heap does not shrink again after it has grown.
    // A preview holds the whole plan in memory.
    keepHeapSmall({ optimizesForSize: call.options.preview });
    return withStore(
      call,
      async (store) => {
        const receiveEach = (parts: OpenPart[]) => receiveSigned(store, call, parts);
        const answer = await (unsigned
          ? receiveUnsigned(store, call, paths)
          : uploads.length > 0
            ? withUploadedPart(store, uploads, receiveEach)
            : withParts(paths, receiveEach, store.asCaller));
        return call.options.preview ? withPreview(store, answer) : answer;
      },
      { writesOutside: true },
    );
  },
});

/** Adds the preview of a staged transfer; an accepted or an incomplete transfer has none. */
async function withPreview(store: OpenStore, answer: CommandResult): Promise<CommandResult> {
  const { id, ...more } = answer.json as { id: string; 'taken-out': string[] };
  const exitCode = answer.exitCode ?? 0;
  // Files that a person removed from the folder are not expected; the rest is previewed.
  const isComplete = exitCode === 0 || more['taken-out'].length > 0;
  if (!isComplete || (await store.records.transfers.find(id))?.status !== 'waiting') return answer;
  return withTransferPreview(store, id, wholeTransfer, async (seen) => ({
    text: `${answer.text}\n\n${renderReportText(buildPreviewReport(seen))}`,
    json: { ...(answer.json as object), preview: presentPreview(seen) },
    exitCode: seen.plan.problems.length === 0 ? exitCode : 1,
  }));
}

interface TransferReceiveOptions {
  unsigned: boolean;
  /** Whether the folder is the content of the site's former store. */
  adopted?: boolean;
  media: string | undefined;
  'last-receipt': string | undefined;
  'floor-lost': boolean;
}

/** Receives a signed transfer; accepts it if the policy allows that without an approval. */
async function receiveSigned(store: OpenStore, call: ReceiveCall, parts: OpenPart[]): Promise<CommandResult> {
  const received = await receiveParts(store, call, parts);
  const answer = answerOf(received);
  if (received.settled !== undefined || received.lacking.length > 0 || received.takenOut.length > 0) return answer;
  const came = await withBlobs(store, ({ blobs }) =>
    acceptIfAutomatic(received.id, { store, blobs, actor: store.person }),
  );
  if (came === undefined) return answer;
  if ('reason' in came)
    return extendAnswer(answer, `It was not accepted automatically: ${visible(came.reason)}`, { why: came.reason });
  const { lines, automatic } = came.receipt;
  const text = `It was accepted automatically: ${formatCount(lines.length, 'change')}.`;
  return extendAnswer(answer, text, { automatic, changes: lines.length });
}

/** Receives an unsigned folder. */
async function receiveUnsigned(
  store: OpenStore,
  call: ReceiveCall & { options: { release: readonly string[] } },
  paths: readonly string[],
): Promise<CommandResult> {
  const [path, other] = paths;
  if (path === undefined || other !== undefined) throw new UsageError('--unsigned takes one folder');
  // Refuse before hours of reading.
  refuseUnsigned(await store.records.approvalPolicy.inForce());
  const folder = requireFolder(resolve(path));
  const scratch = join(store.directory, 'transfers', 'unpacked');
  try {
    const beginning = await withBlobs(store, ({ blobs }) => beginUnsigned({ ...store, blobs }));
    const folderContent = await gatherFolder(
      folder,
      { scratch, release: call.options.release, now: beginning.at },
      call,
    );
    const parts = await unsignedParts(folderContent, folder, beginning);
    const answer = answerOf(await receiveParts(store, call, parts));
    return { ...answer, ...extendAnswer(formatGathered(folderContent), answer.text, answer.json) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

type ReceiveCall = Pick<CommandCall, 'json' | 'quiet' | 'world'> & { options: TransferReceiveOptions };

/** Receives parts of a transfer and stages it. */
export async function receiveParts(
  store: OpenStore,
  call: ReceiveCall,
  parts: OpenPart[],
): Promise<TransferReceiveResult> {
  const progress = createProgress(call);
  const own = await siteOf(store.records, siteKeysOf(store, call.world));
  const { 'last-receipt': receipt, 'floor-lost': isLost } = call.options;
  const lastReceipt = receipt === undefined ? (isLost ? 'lost' : undefined) : readOwnReceipt(resolve(receipt), own);
  try {
    return await interruptible((signal) =>
      withReviewer((reviewer) =>
        withBlobs(store, async (blobAccess) =>
          receive(parts, {
            ...(await receptionContextOf(store, { ...blobAccess, reviewer, signal })),
            actor: store.person,
            lastReceipt,
            isUnsigned: call.options.unsigned,
            isAdoption: call.options.adopted === true,
            media: parseMedium(call.options.media),
            progress: progress.at,
          }),
        ),
      ),
    );
  } finally {
    progress.end();
  }
}

/** The source and number in a receipt that this site has signed. */
function readOwnReceipt(file: string, own: Site | undefined): { source: string; sequence: number } {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw toReadFailure(file, error);
  }
  const position = own === undefined ? undefined : parseReceipt(text, [own.key.publicKey, ...(own.before ?? [])]);
  if (position !== undefined) return position;
  throw new Failure(`${file} is not a receipt signed by this site`, { code: 'no-receipt' });
}

function answerOf({ id, statement, signers, lacking, takenOut, settled }: TransferReceiveResult): CommandResult {
  const { source, sequence, parts } = statement;
  if (settled !== undefined) {
    return {
      text:
        `Transfer ${shortId(id)}, number ${String(sequence)} of ${source}, was already accepted` +
        `${settled.status === 'withdrawn' ? ', and withdrawn' : ''}; nothing was received.`,
      json: {
        id,
        source,
        sequence,
        status: settled.status,
        'signed-with': fingerprintOf(signers),
        lacking,
        'taken-out': [],
      },
    };
  }
  const whole =
    takenOut.length > 0
      ? withoutSome(id, takenOut)
      : lacking.length === 0
        ? `It is complete. 'larder transfer preview ${shortId(id)}' shows its changes.`
        : `Part ${lacking.join(', ')} of ${String(parts.length)} is missing.`;
  const signed = signers.length === 0 ? 'It is not signed.' : `It is signed with ${fingerprintOf(signers).join(', ')}.`;
  return {
    text: `Transfer ${shortId(id)}, number ${String(sequence)} of ${source}, waits here. ${signed}\n${whole}`,
    json: {
      id,
      source,
      sequence,
      'signed-with': fingerprintOf(signers),
      parts: parts.length,
      lacking,
      'taken-out': takenOut,
    },
    exitCode: lacking.length === 0 ? 0 : 1,
  };
}

const withoutSome = (id: string, takenOut: readonly string[]): string =>
  `Without ${formatNames(takenOut.map(visible))}: 'larder transfer preview ${shortId(id)}' lists the packages that need it, ` +
  "and '--without NAMESPACE/NAME' leaves the package out.";
