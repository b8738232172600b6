// Reports an import of packages: imported, already present and refused.
import type { Assertion } from '#assertions/assertion.ts';
import { nameOf } from '#assertions/types.ts';
import type { Answer } from '../../frame/command.ts';
import { table, visible } from '../../frame/terminal.ts';
import { bytes } from '#domain/byte-size.ts';
import type { Told } from './files.ts';
import type { Seen } from './look.ts';
import type { ReleasedPackage } from './take.ts';

export interface Outcome {
  isPreview: boolean;
  seen: Seen[];
  /** Assertions that belong to no imported snap. */
  assertions: Assertion[];
  refused: Told[];
  passedOver: Told[];
  released: ReleasedPackage[];
}

export function answerOf(outcome: Outcome): Answer {
  const { seen, assertions, refused, passedOver, released, isPreview } = outcome;
  const [here, come] = [seen.filter(({ isHere }) => isHere), seen.filter(({ isHere }) => !isHere)];
  const comes = isPreview ? 'would come in' : 'came in';
  const parts = [
    ...part(`${count(come, 'revision')} ${comes}:`, come.length > 0 ? [table(headings, come.map(row))] : []),
    ...part(`${count(assertions, 'other assertion')} ${comes}:`, assertions.map(nameOf).map(visible)),
    ...part(
      'Released:',
      released.map((one) => `${one.package}: ${one.revisions.join(', ')}`),
    ),
    ...(here.length > 0 ? [`${count(here, 'revision')} ${here.length === 1 ? 'is' : 'are'} here already.`] : []),
    ...part('Passed over:', passedOver.map(line)),
    ...part('Refused:', refused.map(line)),
  ];
  return {
    text: parts.length === 0 ? 'There was nothing to take in.' : parts.join('\n'),
    json: {
      preview: isPreview,
      revisions: seen.map(present),
      assertions: assertions.map((one) => ({ name: nameOf(one), revision: one.revision })),
      released,
      'passed-over': passedOver,
      refused,
    },
    exitCode: refused.length === 0 ? 0 : 1,
  };
}

const headings = ['PACKAGE', 'REVISION', 'VERSION', 'SIZE', 'PUBLISHER', ''];

const row = ({ snap, version, notes }: Seen): string[] => [
  ...[`snap/${snap.name}`, String(snap.revision), version, bytes(snap.size)],
  ...[snap.publisher.username ?? snap.publisher.id, notes.join('; ')],
];

const line = ({ file, why }: Told): string => visible(`${file}: ${why}`);

const count = (of: readonly unknown[], what: string): string => `${of.length} ${what}${of.length === 1 ? '' : 's'}`;

/** A heading with its lines; nothing if there are none. */
const part = (heading: string, lines: readonly string[]): string[] => (lines.length === 0 ? [] : [heading, ...lines]);

const present = ({ file, snap, version, isHere, notes }: Seen) => ({
  file,
  package: `snap/${snap.name}`,
  id: snap.id,
  revision: snap.revision,
  version,
  size: snap.size,
  'sha3-384': snap.sha3_384,
  provenance: snap.provenance,
  publisher: { id: snap.publisher.id, username: snap.publisher.username ?? null },
  'is-here': isHere,
  notes,
});
