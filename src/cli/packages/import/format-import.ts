// Reports an import of packages: imported, already present and refused.
import type { Assertion } from '#assertions/format/assertion.ts';
import { nameOf } from '#assertions/format/types.ts';
import type { CommandResult } from '../../frame/command.ts';
import { table, visible } from '../../frame/terminal.ts';
import { formatBytes } from '#domain/byte-size.ts';
import type { SkippedImportFile } from './files.ts';
import type { InspectedSnap } from './inspect-snap.ts';
import type { ReleasedPackage } from './import-snaps.ts';

export interface PackageImportOutcome {
  isPreview: boolean;
  seen: InspectedSnap[];
  /** Assertions that belong to no imported snap. */
  assertions: Assertion[];
  refused: SkippedImportFile[];
  passedOver: SkippedImportFile[];
  released: ReleasedPackage[];
}

export function formatImport(outcome: PackageImportOutcome): CommandResult {
  const { seen, assertions, refused, passedOver, released, isPreview } = outcome;
  const [existing, added] = [seen.filter(({ isHere }) => isHere), seen.filter(({ isHere }) => !isHere)];
  const imported = isPreview ? 'Would import' : 'Imported';
  const parts = [
    ...part(`${imported} ${count(added, 'revision')}:`, added.length > 0 ? [table(headings, added.map(row))] : []),
    ...part(`${imported} ${count(assertions, 'other assertion')}:`, assertions.map(nameOf).map(visible)),
    ...part(
      'Released:',
      released.map((entry) => `${entry.package}: ${entry.revisions.join(', ')}`),
    ),
    ...(existing.length > 0
      ? [`${count(existing, 'revision')} ${existing.length === 1 ? 'is' : 'are'} here already.`]
      : []),
    ...part('Passed over:', passedOver.map(line)),
    ...part('Refused:', refused.map(line)),
  ];
  return {
    text: parts.length === 0 ? 'There was nothing to import.' : parts.join('\n'),
    json: {
      preview: isPreview,
      revisions: seen.map(present),
      assertions: assertions.map((assertion) => ({ name: nameOf(assertion), revision: assertion.revision })),
      released,
      'passed-over': passedOver,
      refused,
    },
    exitCode: refused.length === 0 ? 0 : 1,
  };
}

const headings = ['PACKAGE', 'REVISION', 'VERSION', 'SIZE', 'PUBLISHER', ''];

const row = ({ snap, version, notes }: InspectedSnap): string[] => [
  ...[`snap/${snap.name}`, String(snap.revision), version, formatBytes(snap.size)],
  ...[snap.publisher.username ?? snap.publisher.id, notes.join('; ')],
];

const line = ({ file, why: reason }: SkippedImportFile): string => visible(`${file}: ${reason}`);

const count = (of: readonly unknown[], noun: string): string => `${of.length} ${noun}${of.length === 1 ? '' : 's'}`;

/** A heading with its lines; nothing if there are none. */
const part = (heading: string, lines: readonly string[]): string[] => (lines.length === 0 ? [] : [heading, ...lines]);

const present = ({ file, snap, version, isHere, notes }: InspectedSnap) => ({
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
