// larder transfer check
import { labelText } from '#domain/sites/site-label.ts';
import { formatNames } from '#transfers/parts/unpacked-folder.ts';
import type { OpenPart } from '#transfers/parts/open-part.ts';
import { figuresOf } from '#transfers/make/compose.ts';
import { fingerprintOfId, shortId } from '#transfers/site.ts';
import { command, type CommandResult } from '../frame/command.ts';
import { createProgress } from '../frame/progress.ts';
import { visible } from '../frame/terminal.ts';
import { formatBytes } from '#domain/byte-size.ts';
import { withParts } from './parts.ts';
import { formatPackages } from './report.ts';

export const transferCheck = command({
  name: 'transfer check',
  summary: 'Check the files of a transfer and show its signatures and content, without a store, keys or network.',
  description:
    'The command reads every byte of the given parts. Exit code 1 means that parts are missing. It does not ' +
    "check that the signing keys belong to the source: compare their fingerprints with the output of 'larder " +
    "site show' at the receiving site.",
  positionals: [{ name: 'parts', value: 'PART', summary: 'The parts, or the folder with them.', repeated: true }],
  examples: ['larder transfer check /media/stick', 'larder transfer check ./in.1of3.tar ./in.2of3.tar --json'],

  async run(call) {
    const progress = createProgress(call);
    try {
      return await withParts(call.positionals.parts, (parts) => checked(parts, progress.at));
    } finally {
      progress.end();
    }
  },
});

async function checked(
  parts: readonly OpenPart[],
  at: (step: string, done: number, total: number) => void,
): Promise<CommandResult> {
  const descriptions = [];
  for (const [id, some] of Map.groupBy(parts, (part) => part.id)) {
    for (const part of some) {
      let done = 0;
      for await (const { bytes: content } of part.pieces()) {
        for await (const read of content()) at(`part ${String(part.part)}`, (done += read.length), part.size);
      }
    }
    descriptions.push(describe(id, some));
  }
  return {
    text: descriptions.map(({ text }) => text).join('\n\n'),
    json: { transfers: descriptions.map(({ json }) => json) },
    exitCode: descriptions.some(({ isComplete }) => !isComplete) ? 1 : 0,
  };
}

function describe(id: string, parts: readonly OpenPart[]) {
  const { statement, signatureList: signatures } = parts[0]!;
  const numbers = new Set(parts.map(({ part }) => part));
  const lacking = statement.parts.map((_, part) => part + 1).filter((part) => !numbers.has(part));
  const takenOut = parts.flatMap((part) => part.takenOut ?? []);
  const figures = figuresOf(statement);
  const keys = signatures.map(({ keyid }) => fingerprintOfId(keyid));
  const completeness =
    takenOut.length > 0
      ? `Not here: ${formatNames(takenOut)}.`
      : lacking.length === 0
        ? 'The transfer is complete.'
        : `Part ${lacking.join(', ')} of ${String(figures.parts)} is not here.`;
  const packages = [...statement.packages];
  return {
    isComplete: lacking.length === 0 && takenOut.length === 0,
    text: [
      `Transfer ${shortId(id)}, number ${String(statement.sequence)} of ${statement.source}, for ${statement.for.join(', ') || 'any site'}.`,
      `Made ${statement.created}, valid until ${statement.expires}${statement.reason === undefined ? '' : `, because: ${visible(statement.reason)}`}.`,
      `It has ${labelText(statement.label)}.`,
      `Signed with ${keys.join(', ')}.`,
      `${completeness} It contains ${formatBytes(figures.bytes)}.`,
      formatPackages(packages),
    ].join('\n'),
    json: {
      id,
      source: statement.source,
      sequence: statement.sequence,
      for: statement.for,
      label: statement.label ?? null,
      created: statement.created,
      expires: statement.expires,
      'signed-with': keys,
      lacking,
      'taken-out': takenOut,
      ...figures,
      packages: packages.map(({ namespace, name, id: packageId, revisions }) => ({
        name: `${namespace}/${name}`,
        id: packageId,
        revisions: revisions.map(({ revision, content }) => ({ revision, ...content })),
      })),
    },
  };
}
