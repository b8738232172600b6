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
  summary: 'Unpack a transfer into an empty folder as plain files, such as hello_12.snap, for a virus scanner.',
  description:
    'Needs no store, keys or network, and verifies each content. The folder also holds the data to pack it ' +
    "again; SHA256SUMS lists each file. To keep a file out, remove it: 'larder transfer receive' receives the " +
    'folder without it.',
  positionals: [
    {
      name: 'paths',
      value: 'PART... DIR',
      summary: 'All parts, or the folder with them; last the empty folder to fill.',
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
              `Transfer ${shortId(id)}, number ${String(statement.sequence)} of ${statement.source}, is unpacked in ${into}: ${formatCount(files.length, 'file')}.\n` +
              `After the scan, 'larder transfer receive ${into}' receives them; 'larder transfer pack ${into} FILE' makes its parts again.`,
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
    'If a file was changed or removed, the command lists it and makes no parts, because the signature of the ' +
    'source covers all of them.',
  positionals: [
    { name: 'folder', value: 'DIR', summary: 'The folder with the unpacked transfer.' },
    { name: 'file', summary: 'The file to write. If there are several parts, their number goes before the extension.' },
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
