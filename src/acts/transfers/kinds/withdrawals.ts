// Withdrawals of revisions in transfers.
import { withdraw } from '../../revisions/revisions.ts';
import type { ContentKind } from './content-kind.ts';

export const withdrawalContent: ContentKind = {
  async plan(planning) {
    const { records, inputs, plan } = planning;
    const { id, withdrawn } = planning.carried;
    for (const withdrawal of withdrawn) {
      const { revision, why: reason } = withdrawal;
      const item = `revision ${String(revision)}`;
      const numbered = await records.revisions.numbered(id, revision);
      if (numbered === undefined || numbered.withdrawnBecause !== null) continue;
      // A source without permission to release must not empty channels either.
      const holding = inputs.source.mayRelease ? [] : await records.releases.holding(id, revision, inputs.at);
      if (holding.length > 0) {
        const channels = [...new Set(holding.map(({ channel }) => channel))].join(', ');
        planning.unchanged(
          item,
          `It is withdrawn at its source (${reason}). This source may not change channels, and ${channels} hold it here.`,
        );
        continue;
      }
      plan.withdrawals.push(withdrawal);
      planning.line({ kind: 'withdrawal', what: item, from: 'in use', to: 'withdrawn', notes: [reason] });
    }
  },

  async accept({ tx, doing, plan, subject }) {
    for (const { revision, why: reason } of plan.withdrawals) {
      const because = reason === '' ? 'withdrawn at its source' : reason;
      await withdraw(tx, subject.id, { revision, because }, doing);
    }
  },
};
