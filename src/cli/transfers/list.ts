// larder transfer list
import { waitReasonSubject } from '#acts/transfers/automatic.ts';
import { presentReceivedTransfer } from '#operations/transfers/list-transfers.ts';
import { shortId } from '#transfers/site.ts';
import type { Collector } from '#transfers/make/collector.ts';
import { collectorExports } from '#transfers/make/collector-exports.ts';
import { command, type CommandResult, type CommandCall } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { formatBytes } from '#domain/byte-size.ts';
import { table, visible } from '../frame/terminal.ts';
import { findCollector } from '../sites/collector.ts';

const maxTransfers = 1000;

export const transferList = command({
  name: 'transfer list',
  summary: 'List the received transfers, newest first: waiting, accepted, discarded and withdrawn.',
  description:
    'At a collector, list the exported files instead, newest first, with the user who exported them, the ' +
    'receiving site, and the digest.',
  examples: ['larder transfer list', 'larder transfer list --json'],

  run(call) {
    const collector = findCollector(call);
    return collector === undefined ? listTransfers(call) : left(collector);
  },
});

function left({ folder }: Collector): CommandResult {
  const exports = collectorExports(folder).toReversed();
  const rows = exports.map(({ at, by: actor, sequence, part, of, bytes: size, sha256, media, for: sites }) => [
    ...[at, actor, String(sequence), of === 1 ? '-' : `${String(part)} of ${String(of)}`],
    ...[sites.length === 0 ? 'any' : sites.join(', '), formatBytes(size), media ?? '-', sha256],
  ]);
  return {
    text:
      rows.length === 0
        ? 'This collector has exported nothing.'
        : table(['AT', 'BY', 'NUMBER', 'PART', 'FOR', 'SIZE', 'MEDIUM', 'SHA-256'], rows),
    json: { exports },
  };
}

const listTransfers = ({ data, world }: Pick<CommandCall, 'data' | 'world'>): Promise<CommandResult> =>
  withStore({ data, world }, async ({ records }) => {
    const transfers = await records.transfers.list(maxTransfers);
    const reasons = new Map<string, string>();
    for (const { id, status } of transfers) {
      const finding = status === 'waiting' ? await records.transfers.finding(id, waitReasonSubject) : undefined;
      if (finding?.refused !== undefined && finding.refused !== null) reasons.set(id, finding.refused);
    }
    const waits = [...reasons].map(([id, reason]) => `${shortId(id)} waits for people: ${visible(reason)}`);
    const rows = transfers.map((transfer) => [
      ...[shortId(transfer.id), transfer.source, String(transfer.sequence), transfer.status],
      ...[transfer.receivedAt, transfer.settledAt ?? '-', transfer.settledBy ?? '-'],
    ]);
    return {
      text:
        rows.length === 0
          ? 'No transfer was received.'
          : [table(['ID', 'SOURCE', 'NUMBER', 'STATUS', 'CAME', 'SETTLED', 'BY'], rows), ...waits].join('\n'),
      json: {
        transfers: transfers.map((transfer) => ({
          ...presentReceivedTransfer(transfer),
          ...(reasons.has(transfer.id) && { why: reasons.get(transfer.id) }),
        })),
      },
    };
  });
