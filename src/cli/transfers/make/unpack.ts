// larder transfer unpack, larder transfer pack
import { formatCount } from '#domain/quantities.ts';
import { resolve } from 'node:path';

import { openUnpacked } from '#transfers/parts/unpacked-folder.ts';
import { NotATransfer } from '#transfers/statement/not-a-transfer.ts';
import { pack, unpack } from '#transfers/parts/unpack.ts';
import { command, Failure, UsageError } from '../../frame/command.ts';
import { interruptible } from '../../frame/interruption.ts';
import { toReadFailure, withWriteErrors } from '../../frame/outside-files.ts';
import { createProgress } from '../../frame/progress.ts';
import { formatBytes } from '#domain/byte-size.ts';
import { shortId } from '#transfers/site.ts';
import { newFileAt } from './writing-options.ts';
import { withParts } from '../parts.ts';

export const transferUnpack = command({
  name: 'transfer unpack',
  summary: 'Lay what a transfer holds into an empty folder as plain files, such as hello_12.snap, for a virus scanner.',
  description:
    'It takes no store, keys or network, and proves each content. What is needed to pack it again lies beside the files; SHA256SUMS ' +
    "says what each of them is. A file that has to stay out is taken away: 'larder transfer receive' takes in the folder without it.",
  positionals: [
    {
      name: 'paths',
      value: 'PART... DIR',
      summary: 'All parts, or the folder that they are in; last the empty folder to fill.',
      repeated: true,
    },
  ],
  examples: [
    'larder transfer unpack /media/stick ./to-scan',
    'larder transfer unpack ./in.1of2.tar ./in.2of2.tar ./to-scan',
  ],

  async run(call) {
    const { paths } = call.positionals;
    const [folder, ...parts] = [...paths].reverse();
    if (folder === undefined || parts.length === 0) throw new UsageError('name the parts, and last the folder to fill');
    const into = resolve(folder);
    const progress = createProgress(call);
    try {
      return await interruptible((signal) =>
        withParts(parts.reverse(), async (open) => {
          const files = await withWriteErrors(into, () => unpack(open, into, { signal, progress: progress.at }));
          const { id, statement } = open[0]!;
          return {
            text:
              `Transfer ${shortId(id)}, number ${String(statement.sequence)} of ${statement.source}, lies in ${into}: ${formatCount(files.length, 'file')}.\n` +
              `When they were scanned, 'larder transfer receive ${into}' takes them in; 'larder transfer pack ${into} FILE' makes its parts again.`,
            json: { id, source: statement.source, sequence: statement.sequence, folder: into, files },
          };
        }),
      );
    } finally {
      progress.end();
    }
  },
});

export const transferPack = command({
  name: 'transfer pack',
  summary: 'Make the parts of an unpacked transfer again, with the same bytes.',
  description:
    'Whatever was changed or taken away since is named, and nothing is made: the source has signed for all of it.',
  positionals: [
    { name: 'folder', value: 'DIR', summary: 'The folder in which it lies unpacked.' },
    { name: 'file', summary: 'The file to write; with several parts their number goes before its ending.' },
  ],
  examples: ['larder transfer pack ./scanned ./depot-1.tar'],

  async run(call) {
    const folder = resolve(call.positionals.folder);
    const file = newFileAt(resolve(call.positionals.file));
    const progress = createProgress(call);
    try {
      return await interruptible(async (signal) => {
        const unpacked = await openUnpacked(folder, (work) => work()).catch((error: unknown) => {
          throw toReadFailure(folder, error);
        });
        const made = await withWriteErrors(file, () => pack(unpacked, folder, file, { signal, progress: progress.at }));
        return {
          text: `It is in ${made.files.join(', ')}: ${formatBytes(made.bytes)}.`,
          json: { id: unpacked.parts[0]?.id, ...made },
        };
      });
    } catch (error) {
      if (!(error instanceof NotATransfer)) throw error;
      throw new Failure(`${folder} cannot be packed. ${error.message}`, { code: 'no-transfer', cause: error });
    } finally {
      progress.end();
    }
  },
});
