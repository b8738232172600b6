// larder transfer list
import { whyItWaits } from '#acts/transfers.ts';
import { shortId } from '#transfers/site.ts';
import type { Collector } from '#transfers/collector.ts';
import { collectorExports } from '#transfers/collector-exports.ts';
import { command, type Answer, type Call } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { bytes } from '#domain/byte-size.ts';
import { table, visible } from '../frame/terminal.ts';
import { collectorAt } from '../site/collector.ts';

const most = 1000;

export const transferList = command({
  name: 'transfer list',
  summary:
    'List the transfers that came here, the newest first: those that wait, were let in, thrown away, or put back.',
  description:
    'At a collector, to which none come: each file that has left it, the newest first, with who let it out, for whom, and its digest.',
  examples: ['larder transfer list', 'larder transfer list --json'],

  run(call) {
    const collector = collectorAt(call);
    return collector === undefined ? listed(call) : left(collector);
  },
});

function left({ folder }: Collector): Answer {
  const found = collectorExports(folder).toReversed();
  const rows = found.map(({ at, by, sequence, part, of, bytes: size, sha256, media, for: sites }) => [
    ...[at, by, String(sequence), of === 1 ? '-' : `${String(part)} of ${String(of)}`],
    ...[sites.length === 0 ? 'any' : sites.join(', '), bytes(size), media ?? '-', sha256],
  ]);
  return {
    text:
      rows.length === 0
        ? 'Nothing has left this collector.'
        : table(['AT', 'BY', 'NUMBER', 'PART', 'FOR', 'SIZE', 'MEDIUM', 'SHA-256'], rows),
    json: { exports: found },
  };
}

const listed = ({ data, world }: Pick<Call, 'data' | 'world'>): Promise<Answer> =>
  withStore({ data, world }, async ({ records }) => {
    const found = await records.transfers.list(most);
    const why = new Map<string, string>();
    for (const { id, status } of found) {
      const kept = status === 'waiting' ? await records.transfers.finding(id, whyItWaits) : undefined;
      if (kept?.refused !== undefined && kept.refused !== null) why.set(id, kept.refused);
    }
    const waits = [...why].map(([id, one]) => `${shortId(id)} waits for people: ${visible(one)}`);
    const rows = found.map((one) => [
      ...[shortId(one.id), one.source, String(one.sequence), one.status],
      ...[one.receivedAt, one.settledAt ?? '-', one.settledBy ?? '-'],
    ]);
    return {
      text:
        rows.length === 0
          ? 'No transfer came here.'
          : [table(['ID', 'SOURCE', 'NUMBER', 'STATUS', 'CAME', 'SETTLED', 'BY'], rows), ...waits].join('\n'),
      json: {
        transfers: found.map((one) => ({
          ...{ id: one.id, source: one.source, sequence: one.sequence, status: one.status },
          ...{ 'received-at': one.receivedAt, 'received-by': one.receivedBy },
          ...{ 'settled-at': one.settledAt, 'settled-by': one.settledBy },
          ...(why.has(one.id) && { why: why.get(one.id) }),
        })),
      },
    };
  });
