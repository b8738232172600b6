// Writes the receipt of an accepted transfer into a file.
import { exportReceipt, type Receipt } from '#acts/transfers/receipt.ts';
import { Refusal } from '#domain/refusal.ts';
import { findTransfer } from '#transfers/accept/inspect.ts';
import { buildReceiptReport } from '#transfers/accept/report.ts';
import { signReceipt } from '#transfers/accept/receipts.ts';
import { ownSite, shortId } from '#transfers/site.ts';
import { writeNew } from '../frame/outside-files.ts';
import type { OpenStore } from '../frame/store.ts';
import type { World } from '../frame/command.ts';
import { siteKeysOf } from '../keys/find-keys.ts';
import { renderReportPage } from './report.ts';

/** Writes the signed receipt, or a page for people; returns the id of the transfer, and digest and size of the file. */
export async function writeReceipt(
  store: OpenStore,
  { prefix, file, html }: { prefix: string; file: string; html: boolean },
  world: World,
): Promise<{ id: string; sha256: string; bytes: number }> {
  const { records, acts, person, config, asCaller } = store;
  const site = await ownSite(records, siteKeysOf(store, world));
  const { id, receipt } = await findTransfer(records, prefix);
  if (receipt === null)
    throw new Refusal('conflict', `Transfer ${shortId(id)} was not accepted, so there is no receipt.`);
  const about = { site, auditHead: (await records.audit.head()) ?? null };
  const parsedReceipt = JSON.parse(receipt) as Receipt;
  const text = html
    ? renderReportPage(buildReceiptReport(parsedReceipt, about))
    : await signReceipt(parsedReceipt, about);
  // Record the export before the file is complete, so that it cannot leave unrecorded.
  const written = await writeNew(file, asCaller, async (append) => {
    await append(text);
    await acts.do(exportReceipt, person, { id, label: config.site.label ?? null, text });
  });
  return { id, ...written };
}
