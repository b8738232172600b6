// larder transfer lost
import { markTransferLost } from '#acts/transfers/transfers.ts';
import { recordLost } from '#transfers/make/collector.ts';
import { command, Failure, UsageError, type CommandResult } from '../frame/command.ts';
import { formatCount } from '#domain/quantities.ts';
import { withStore } from '../frame/store.ts';
import { findCollector } from '../sites/collector.ts';

export const transferLost = command({
  name: 'transfer lost',
  summary: 'Mark a transfer that was made here as lost, so that --since-sent includes its content again.',
  description:
    'If the site has accepted no later transfer, make the lost transfer again with --again and carry that. If it ' +
    'has, the number of the lost transfer is too low there: mark it as lost, and make the next transfer as usual.',
  positionals: [{ name: 'number', summary: 'The number of the transfer that was lost.' }],
  examples: ['larder transfer lost 7'],

  run(call) {
    const { number: typed } = call.positionals;
    if (!/^[1-9]\d{0,15}$/.test(typed))
      throw new UsageError(`'${typed}' is not the number of a transfer; write it as 7`);
    const sequence = Number(typed);
    const collector = findCollector(call);
    if (collector !== undefined) {
      recordLost(collector, sequence);
      return answerOf(sequence, {});
    }
    return withStore(call, async ({ records, acts, person }) => {
      const made = await records.transfers.made(sequence);
      if (made === undefined)
        throw new Failure(`no transfer number ${typed} was made here`, { code: 'resource-not-found' });
      const { contents, packages } = await acts.do(markTransferLost, person, { id: made.id, sequence });
      return answerOf(sequence, { contents, packages });
    });
  },
});

function answerOf(sequence: number, forgotten: { contents?: number; packages?: number }): CommandResult {
  const { contents, packages } = forgotten;
  const counts =
    contents === undefined || packages === undefined
      ? 'Its content counts'
      : `${formatCount(contents, 'content')} and the descriptions of ${formatCount(packages, 'package')} count`;
  return {
    text: `Transfer number ${String(sequence)} was lost. ${counts} as not sent, and the next transfer with --since-sent includes it again.`,
    json: { sequence, ...forgotten },
  };
}
