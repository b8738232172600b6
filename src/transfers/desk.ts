// Inspects and settles received transfers in the serving process. The commands use the same functions.
import { rm } from 'node:fs/promises';

import type { Acts, By } from '#acts/act.ts';
import { discardTransfer, withdrawTransfer, type Receipt } from '#acts/transfers.ts';
import type { TransferDesk } from '#api/transfer-desk.ts';
import type { Roots } from '#assertions/chain.ts';
import type { Blobs } from '#blobs/blobs.ts';
import type { Now } from '#domain/clock.ts';
import { fitsGlob } from '#domain/package-glob.ts';
import { Refusal } from '#domain/refusal.ts';
import { withSpool } from '#files/spool.ts';
import type { Records } from '#records/index.ts';
import type { ReceivedTransfer } from '#records/transfers.ts';
import type { Config } from '#src/config.ts';
import { piecesOf } from './intake.ts';
import { letIn, whole, type LettingIn } from './letting-in.ts';
import { broughtBy, lookAt, transferOf, type Brought } from './look.ts';
import { present, receiptReport, reportOf } from './report.ts';
import { provenanceOf } from './request/ask.ts';
import { shortId, siteOf } from './site.ts';

export interface Settling {
  records: Records;
  acts: Acts;
  siteKey: Buffer;
  /** The data directory. */
  directory: string;
  config: Pick<Config, 'site'>;
}

/** Returns the dependencies for accepting a waiting transfer. */
export async function lettingIn({ records, acts, siteKey, directory, config }: Settling): Promise<LettingIn> {
  return { acts, directory, site: (await siteOf(records, siteKey))?.name, labels: config.site };
}

/** Discards a waiting transfer with its received content. */
export async function discard(
  { acts, directory }: Pick<Settling, 'acts' | 'directory'>,
  { id }: Pick<ReceivedTransfer, 'id'>,
  by: By,
): Promise<void> {
  await acts.do(discardTransfer, by, { id });
  await rm(piecesOf(directory, id), { recursive: true, force: true });
}

interface Serving extends Omit<Settling, 'config'> {
  blobs: Pick<Blobs, 'open'>;
  config: () => Config;
  roots: () => Roots;
  now: Now;
}

/** Maximum length of a statement in the serving process. A longer one, of some thousand packages, would block all requests for seconds. */
const longestLookedAt = 2 * 1024 * 1024;

export function transferDesk(serving: Serving): TransferDesk {
  const { records, acts, blobs, siteKey, roots, now } = serving;
  const settling = (): Settling => ({ ...serving, config: serving.config() });
  const withBrought = async <Result>(prefix: string, work: (brought: Brought) => Promise<Result>): Promise<Result> => {
    const transfer = await transferOf(records, prefix);
    await refuseLong(transfer, blobs);
    return withSpool(serving.directory, async (spool) =>
      work(await broughtBy(transfer, { records, blobs, roots: roots(), spool, now })),
    );
  };
  return {
    find: (prefix) => transferOf(records, prefix),
    async preview(prefix, without = []) {
      return withBrought(prefix, async (brought) => {
        refuseEmpty(brought, without);
        const { site, labels } = await lettingIn(settling());
        const seen = await lookAt(brought, { ...whole, without }, { records, now, site, labels });
        const { lines, problems, leftOut, missing } = seen.plan;
        const listed = { lines: [...lines], problems: [...problems], missing: [...missing], 'left-out': [...leftOut] };
        return { preview: { ...present(seen), ...listed }, report: reportOf(seen) };
      });
    },
    async receipt({ receipt }) {
      const site = await siteOf(records, siteKey);
      if (receipt === null || site === undefined) return undefined;
      return receiptReport(JSON.parse(receipt) as Receipt, { site, auditHead: (await records.audit.head()) ?? null });
    },
    accept: (prefix, { seen, without = [] }, by) =>
      withBrought(prefix, async (brought) => {
        // If the transfer is already accepted, the result is its receipt and the selection does not matter.
        if (brought.transfer.status === 'waiting') refuseEmpty(brought, without);
        return letIn(await lettingIn(settling()), { ...brought, seen, narrowed: { ...whole, without } }, by);
      }),
    async discard(prefix, by) {
      const transfer = await transferOf(records, prefix);
      await discard(serving, transfer, by);
      return transfer.id;
    },
    async withdraw(prefix, by) {
      const { id } = await transferOf(records, prefix);
      return { id, channels: await acts.do(withdrawTransfer, by, { id }) };
    },
    declarations: () => provenanceOf(records),
  };
}

/**
 * Refuses a selection without packages: accepting it would use up the number of the transfer, and the person probably wants to discard it.
 */
function refuseEmpty({ statement }: Pick<Brought, 'statement'>, without: readonly string[]): void {
  if (without.length === 0) return;
  let count = 0;
  for (const one of statement.packages) {
    if (!fitsGlob(without, one)) return;
    count += 1;
  }
  if (count > 0)
    throw new Refusal(
      'conflict',
      'All packages of this transfer are left out. Keep one of them, or discard the transfer.',
    );
}

async function refuseLong({ id, statement }: ReceivedTransfer, blobs: Pick<Blobs, 'open'>): Promise<void> {
  const found = await blobs.open(statement);
  if (found === undefined) return;
  found.stream.destroy();
  if (found.size <= longestLookedAt) return;
  throw new Refusal(
    'conflict',
    `This transfer is too long to be looked at while others are served: 'larder transfer preview ${shortId(id)}' on the host shows ` +
      `it, and 'larder transfer accept ${shortId(id)}' lets it in.`,
  );
}
