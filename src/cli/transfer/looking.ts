// Looking at transfers that wait here, for the commands that show them and let them in.
import { readTrusted } from '#assertions/trusted.ts';
import { withBlobs } from '#data/blobs.ts';
import { isPackageGlob } from '#domain/package-glob.ts';
import { lookAt, transferOf, type Seen } from '#transfers/look.ts';
import { UsageError } from '../frame/command.ts';
import type { OpenStore } from '../frame/store.ts';
import { table, visible } from '../frame/terminal.ts';
import { shortId } from './parts.ts';

export const narrowing = {
  only: { type: 'string', value: 'GLOB', summary: 'Let in these packages alone.', repeated: true },
  without: { type: 'string', value: 'GLOB', summary: 'Leave these packages out.', repeated: true },
} as const;

export interface Narrowed {
  only: readonly string[];
  without: readonly string[];
}

/** What a transfer would change here. */
export async function seen(store: OpenStore, id: string, { only, without }: Narrowed): Promise<Seen> {
  const wrong = [...only, ...without].find((glob) => !isPackageGlob(glob));
  if (wrong !== undefined) throw new UsageError(`'${wrong}' is no glob of packages; write such as 'snap/*'`);
  const { records, now, config } = store;
  const roots = readTrusted(config.assertions.trusted);
  const transfer = await transferOf(records, id);
  return withBlobs(store, ({ blobs }) => lookAt(transfer, { only, without }, { records, blobs, roots, now }));
}

/** The same for a person: what it is, what it changes, what stands in its way. */
export function shown({ transfer, statement, plan, disbelieved }: Seen): string {
  const { source, sequence, created, expires, reason } = statement;
  const rows = plan.lines.map(({ package: of, what, from, to, word, notes }) => [
    ...[of, what, from ?? '-', to ?? '-', word, notes.join('; ')],
  ]);
  const told = (heading: string, some: readonly string[]): string[] =>
    some.length === 0 ? [] : [heading, ...some.map((one) => `  ${visible(one)}`)];
  return [
    `Transfer ${shortId(transfer.id)}, number ${String(sequence)} of ${source}: ${transfer.status}.`,
    `Made ${created}, good until ${expires}${reason === undefined ? '' : `, because: ${visible(reason)}`}.`,
    ...(rows.length === 0
      ? ['It changes nothing here.']
      : [table(['PACKAGE', 'WHAT', 'FROM', 'TO', 'WORD', ''], rows)]),
    ...told(
      'Nothing comes in as long as these are in it:',
      plan.problems.map((one) => `${one.package}, ${one.what}: ${one.why}`),
    ),
    ...told(
      'Left out:',
      plan.leftOut.map(({ what, why }) => `${what}: ${why}`),
    ),
    ...told(
      'Not believed:',
      disbelieved.map(({ what, why }) => `${what}: ${why}`),
    ),
    'WORD: upstream, an assertion that a root of trust vouches for; source, what the source says and nobody else.',
  ].join('\n');
}

/** The same for programs. */
export const present = ({ transfer, statement, plan, digest, disbelieved }: Seen) => ({
  id: transfer.id,
  status: transfer.status,
  ...{ source: statement.source, sequence: statement.sequence, created: statement.created, expires: statement.expires },
  ...(statement.reason !== undefined && { reason: statement.reason }),
  lines: plan.lines,
  problems: plan.problems,
  missing: plan.missing,
  'left-out': plan.leftOut,
  disbelieved,
  digest,
});
