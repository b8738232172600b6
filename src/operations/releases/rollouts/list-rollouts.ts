import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { numberBefore, pageOf, pageSize } from '../../page.ts';
import { summarizeRollout } from './present.ts';

export const listRollouts = operation({
  name: 'list_rollouts',
  method: 'GET',
  path: '/internal/v1/packages/:namespace/:name/rollouts',
  since: 0,
  summary: 'List the automatic rollouts of a package, newest first.',
  access: onPackage('package-view-releases'),
  query: 'PageQuery',
  response: 'RolloutList',

  async handle({ package: subject, query, records, now }) {
    const size = pageSize(query);
    const rows = await records.rollouts.ofPackage(subject.id, numberBefore(query), size + 1);
    const { entries, next } = pageOf(rows, size, ({ number }) => [String(number)]);
    const moment = now();
    return {
      rollouts: await Promise.all(entries.map((rollout) => summarizeRollout(records, subject, rollout, moment))),
      next,
    };
  },
});
