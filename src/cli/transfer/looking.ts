// Looking at transfers that wait here, for the commands that show them and let them in.
import type { Planning } from '#acts/transfer-planning.ts';
import { readTrusted } from '#assertions/trusted.ts';
import { withBlobs } from '#data/blobs.ts';
import { readRenaming } from '#domain/channel-renaming.ts';
import { labelText } from '#domain/site-label.ts';
import { isPackageGlob } from '#domain/package-glob.ts';
import { broughtBy, lookAt, transferOf, type Brought, type Seen } from '#transfers/look.ts';
import { keepHeapSmall } from '#src/small-heap.ts';
import { UsageError } from '../frame/command.ts';
import type { OpenStore } from '../frame/store.ts';
import { shortId } from './parts.ts';
import type { Report } from './report.ts';

export const narrowing = {
  only: { type: 'string', value: 'GLOB', summary: 'Let in these packages alone.', repeated: true },
  without: { type: 'string', value: 'GLOB', summary: 'Leave these packages out.', repeated: true },
  'as-channel': {
    type: 'string',
    value: 'FROM=TO',
    summary: 'Release to another channel here, such as stable=stable/site-test; without a track on all of them.',
    repeated: true,
  },
} as const;

export interface Narrowed {
  only: readonly string[];
  without: readonly string[];
  'as-channel': readonly string[];
}

type Narrowing = Pick<Planning, 'only' | 'without' | 'asChannel'>;

/** What a transfer would change here. */
export async function seen(store: OpenStore, id: string, options: Narrowed): Promise<Seen & { narrowed: Narrowing }> {
  const carried = await waiting(store, id, options);
  return { ...(await lookAt(carried, carried.narrowed, store)), narrowed: carried.narrowed };
}

/** What a transfer brings, and what of it is believed. */
export async function waiting(
  store: OpenStore,
  id: string,
  { only, without, 'as-channel': renamings }: Narrowed,
): Promise<Brought & { narrowed: Narrowing }> {
  const wrong = [...only, ...without].find((glob) => !isPackageGlob(glob));
  if (wrong !== undefined) throw new UsageError(`'${wrong}' is no glob of packages; write such as 'snap/*'`);
  keepHeapSmall();
  const { records, now, config } = store;
  const roots = readTrusted(config.assertions.trusted);
  const transfer = await transferOf(records, id);
  const asChannel = renamings.map((one) => {
    const read = readRenaming(one);
    if (read !== undefined) return read;
    throw new UsageError(`'${one}' names no two channels; write such as stable=stable/site-test`);
  });
  const brought = await withBlobs(store, ({ blobs }) => broughtBy(transfer, { records, blobs, roots, now }));
  return { ...brought, narrowed: { only, without, asChannel } };
}

/** The same for a person: what it is, what it changes, what stands in its way. */
export function reportOf({
  transfer,
  statement,
  isLate,
  plan,
  why,
  needed,
  digest,
  disbelieved,
  signatures,
}: Seen): Report {
  const { source, sequence, created, expires, reason } = statement;
  const keys = signatures.map(
    (one) => `${one.fingerprint}${one['is-of-source'] ? '' : ` (no key of '${source}' that this site knows)`}`,
  );
  return {
    title: `Transfer ${shortId(transfer.id)}, number ${String(sequence)} of ${source}: ${transfer.status}.`,
    said: [
      `Made ${created}, good until ${expires}${reason === undefined ? '' : `, because: ${reason}`}.`,
      `It has ${labelText(statement.label)}.`,
      ...(isLate
        ? ['It has expired: it comes in when those approve whom the policy asks about unsigned folders.']
        : []),
      ...(why === null ? [] : [`It waits for people, and did not come in by itself: ${why}`]),
      `Its id is ${transfer.id}.`,
      transfer.unsigned === 1
        ? 'Nobody has signed it: it comes in when those approve whom the policy asks about unsigned folders.'
        : `Signed with ${keys.join(', ')}.`,
      `The digest of these changes is ${digest}.`,
    ],
    changes: [...plan.lines],
    lists: [
      {
        heading: 'Nothing comes in as long as these are in it:',
        items: plan.problems.map((one) => `${one.package}, ${one.what}: ${one.why}`),
      },
      { heading: 'Left out:', items: plan.leftOut.map(({ what, why }) => `${what}: ${why}`) },
      {
        heading: 'What it needs, and neither it brings nor this site has:',
        items: needed.map(
          ({ kind, name, architecture, by }) => `${name} (${kind}, ${architecture}), for ${by.join(', ')}`,
        ),
      },
      { heading: 'Not believed:', items: disbelieved.map(({ what, why }) => `${what}: ${why}`) },
      { heading: 'Contents that are neither in it nor here, by their SHA3-384:', items: plan.missing },
    ],
  };
}

/** The same for programs. */
export const present = ({ transfer, statement, isLate, plan, why, needed, digest, disbelieved, signatures }: Seen) => ({
  id: transfer.id,
  status: transfer.status,
  ...{ source: statement.source, sequence: statement.sequence, created: statement.created, expires: statement.expires },
  expired: isLate,
  label: statement.label ?? null,
  unsigned: transfer.unsigned === 1,
  ...(why !== null && { why }),
  ...(statement.reason !== undefined && { reason: statement.reason }),
  lines: plan.lines,
  problems: plan.problems,
  missing: plan.missing,
  needed: needed.map(({ by, ...one }) => ({ ...one, 'needed-by': by })),
  'left-out': plan.leftOut,
  disbelieved,
  signatures,
  digest,
});
