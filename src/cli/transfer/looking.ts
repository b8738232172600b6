// Loads and previews staged transfers, for the commands that show and accept them.
import type { Planning } from '#acts/transfer-planning.ts';
import { readTrusted } from '#assertions/trusted.ts';
import { withBlobs } from '#data/blobs.ts';
import { readRenaming } from '#domain/channel-renaming.ts';
import { isPackageGlob } from '#domain/package-glob.ts';
import { lettingIn } from '#transfers/desk.ts';
import { broughtBy, lookAt, transferOf, type Brought, type Seen } from '#transfers/look.ts';
import { keepHeapSmall } from '#src/small-heap.ts';
import { answerBeside } from '../frame/beside.ts';
import { UsageError, type Answer } from '../frame/command.ts';
import type { OpenStore } from '../frame/store.ts';

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

/** Builds the plan of a staged transfer, and passes it to `work`. */
export const withSeen = (
  store: OpenStore,
  id: string,
  options: Narrowed,
  work: (seen: Seen & { narrowed: Narrowing }) => Promise<Answer>,
  isAdoption = false,
): Promise<Answer> =>
  withWaiting(store, id, options, async (carried) => {
    const { site, labels } = await lettingIn(store);
    const seen = await lookAt(carried, carried.narrowed, { ...store, site, labels, isAdoption });
    return work({ ...seen, narrowed: carried.narrowed });
  });

/** Loads a staged transfer and verifies its assertions; long lists are in a spill file until the answer is printed. */
export async function withWaiting(
  store: OpenStore,
  id: string,
  { only, without, 'as-channel': renamings }: Narrowed,
  work: (waiting: Brought & { narrowed: Narrowing }) => Promise<Answer>,
): Promise<Answer> {
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
  return answerBeside(store.directory, async (spool) => {
    const brought = await withBlobs(store, ({ blobs }) => broughtBy(transfer, { records, blobs, roots, spool, now }));
    return work({ ...brought, narrowed: { only, without, asChannel } });
  });
}
