// Inspects and settles received transfers in the serving process. The commands use the same functions.
import { rm } from 'node:fs/promises';

import type { Acts, Actor } from '#acts/act.ts';
import { siteNameSetting } from '#acts/sites/sites.ts';
import { discardTransfer } from '#acts/transfers/transfers.ts';
import { withdrawTransfer } from '#acts/transfers/withdraw.ts';
import { exportReceipt, type Receipt } from '#acts/transfers/receipt.ts';
import type { TransferCommands, TransferDesk } from '#http/transfer-desk.ts';
import type { Roots } from '#assertions/chain.ts';
import type { Blobs } from '#blobs/blobs.ts';
import type { Now } from '#domain/clock.ts';
import { fitsGlob } from '#domain/packages/package-glob.ts';
import { wholeTransfer } from '#acts/transfers/plan-types.ts';
import { subjectsBesidePackages } from '#acts/transfers/statement.ts';
import { Refusal } from '#domain/refusal.ts';
import { withSpillFile } from '#files/spill-file.ts';
import type { StoreRecords } from '#records/index.ts';
import type { ReceivedTransfer } from '#records/transfers/transfers.ts';
import type { Config } from '#configuration/config.ts';
import { pieceFolderOf } from '../receive/content-receiver.ts';
import { acceptReceivedTransfer, type AcceptanceContext } from './acceptance.ts';
import { verifyReceived, inspectTransfer, findTransfer, type VerifiedTransfer } from './inspect.ts';
import { presentPreview, buildReceiptReport, buildPreviewReport } from './report.ts';
import { provenanceOf } from '../request/request-content.ts';
import { ownSite, shortId, siteOf, type SiteKeys } from '../site.ts';
import { signReceipt } from './receipts.ts';

export interface TransferDeskDependencies {
  records: StoreRecords;
  acts: Acts;
  /** The data directory. */
  directory: string;
  config: Pick<Config, 'site'>;
}

/** Returns the dependencies for accepting a waiting transfer. */
export async function acceptanceContextOf({
  records,
  acts,
  directory,
  config,
}: TransferDeskDependencies): Promise<AcceptanceContext> {
  return { acts, directory, site: await records.appliance.find(siteNameSetting), labels: config.site };
}

/** Discards a waiting transfer with its received content. */
export async function discard(
  { acts, directory }: Pick<TransferDeskDependencies, 'acts' | 'directory'>,
  { id }: Pick<ReceivedTransfer, 'id'>,
  actor: Actor,
): Promise<void> {
  await acts.do(discardTransfer, actor, { id });
  await rm(pieceFolderOf(directory, id), { recursive: true, force: true });
}

interface TransferDeskOptions extends Omit<TransferDeskDependencies, 'config'>, SiteKeys {
  blobs: Pick<Blobs, 'open'>;
  config: () => Config;
  roots: () => Roots;
  now: Now;
}

/** Maximum length of a statement in the serving process. A longer one, of some thousand packages, would block all requests for seconds. */
const maxInspectedStatementBytes = 2 * 1024 * 1024;

export function transferDesk(serving: TransferDeskOptions): Omit<TransferDesk, keyof TransferCommands> {
  const { records, acts, blobs, roots, now } = serving;
  const settling = (): TransferDeskDependencies => ({ ...serving, config: serving.config() });
  const withBrought = async <Result>(
    prefix: string,
    work: (brought: VerifiedTransfer) => Promise<Result>,
  ): Promise<Result> => {
    const transfer = await findTransfer(records, prefix);
    await refuseLong(transfer, blobs);
    return withSpillFile(serving.directory, async (spool) =>
      work(await verifyReceived(transfer, { records, blobs, roots: roots(), spool, now })),
    );
  };
  return {
    find: (prefix) => findTransfer(records, prefix),
    async preview(prefix, without = []) {
      return withBrought(prefix, async (brought) => {
        refuseEmpty(brought, without);
        const { site, labels } = await acceptanceContextOf(settling());
        const seen = await inspectTransfer(brought, { ...wholeTransfer, without }, { records, now, site, labels });
        return { preview: { ...presentPreview(seen), lines: [...seen.plan.lines] }, report: buildPreviewReport(seen) };
      });
    },
    async receipt({ receipt }) {
      const site = await siteOf(records, serving);
      if (receipt === null || site === undefined) return undefined;
      return buildReceiptReport(JSON.parse(receipt) as Receipt, {
        site,
        auditHead: (await records.audit.head()) ?? null,
      });
    },
    exportReceipt: (prefix, actor) => exportSignedReceipt(serving, prefix, actor),
    accept: (prefix, { seen, without = [] }, actor) =>
      withBrought(prefix, async (brought) => {
        // If the transfer is already accepted, the result is its receipt and the selection does not matter.
        if (brought.transfer.status === 'waiting') refuseEmpty(brought, without);
        return acceptReceivedTransfer(
          await acceptanceContextOf(settling()),
          { ...brought, ...wholeTransfer, seen, without },
          actor,
        );
      }),
    async discard(prefix, actor) {
      const transfer = await findTransfer(records, prefix);
      await discard(serving, transfer, actor);
      return transfer.id;
    },
    async withdraw(prefix, actor) {
      const { id } = await findTransfer(records, prefix);
      return { id, ...(await acts.do(withdrawTransfer, actor, { id })) };
    },
    declarations: () => provenanceOf(records),
  };
}

/** Signs the receipt of an accepted transfer. */
async function exportSignedReceipt(
  serving: TransferDeskOptions,
  prefix: string,
  actor: Actor,
): Promise<{ id: string; text: string }> {
  const { records, acts, config } = serving;
  const site = await ownSite(records, serving);
  const { id, receipt } = await findTransfer(records, prefix);
  if (receipt === null)
    throw new Refusal('conflict', `Transfer ${shortId(id)} was not accepted, so there is no receipt.`);
  const auditHead = (await records.audit.head()) ?? null;
  const text = await signReceipt(JSON.parse(receipt) as Receipt, { site, auditHead });
  await acts.do(exportReceipt, actor, { id, label: config().site.label ?? null, text });
  return { id, text };
}

/**
 * Refuses a selection without packages: accepting it would use up the number of the transfer, and the person probably wants to discard it.
 */
function refuseEmpty({ statement }: Pick<VerifiedTransfer, 'statement'>, without: readonly string[]): void {
  if (without.length === 0) return;
  if (subjectsBesidePackages(statement).some((entry) => !fitsGlob(without, entry))) return;
  let count = 0;
  for (const entry of statement.packages) {
    if (!fitsGlob(without, entry)) return;
    count += 1;
  }
  if (count > 0)
    throw new Refusal(
      'conflict',
      'All packages of this transfer are left out. Keep one of them, or discard the transfer.',
    );
}

async function refuseLong({ id, statement }: ReceivedTransfer, blobs: Pick<Blobs, 'open'>): Promise<void> {
  const blob = await blobs.open(statement);
  if (blob === undefined) return;
  blob.stream.destroy();
  if (blob.size <= maxInspectedStatementBytes) return;
  throw new Refusal(
    'conflict',
    `This transfer is too long to preview here. Preview it on the host with 'larder transfer preview ${shortId(id)}', ` +
      `and accept it with 'larder transfer accept ${shortId(id)}'.`,
  );
}
