import { deleteRevisions as act, findOldRevisions } from '#acts/revisions/old-revisions.ts';
import { beyondChannels } from '#access/beyond-channels.ts';
import { operation } from '#http/operation.ts';
import { days, timestamp } from '#domain/clock.ts';
import { caller } from '../caller.ts';
import { readChannel } from '../releases/channels.ts';
import { presentOldRevisions } from './present-old-revisions.ts';

export const deleteRevisions = operation({
  name: 'delete_revisions',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/revisions/delete',
  since: 0,
  summary: 'Preview the old revisions that a rule selects, or delete the named revisions; at most 500 at once.',
  access: beyondChannels('package-manage-revisions'),
  body: 'DeleteRevisionsRequest',
  response: 'DeleteRevisionsResponse',
  refuses: ['conflict'],

  async handle(call) {
    const { package: subject, body, records, acts, now } = call;
    const { keep, channel, reason, revisions } = body;
    const age = body['older-than-days'];
    const rule = {
      keep,
      channel: channel === undefined ? undefined : readChannel(channel).name,
      olderThan: age === undefined ? undefined : days(age),
    };
    const candidates = await findOldRevisions(records, subject, rule, timestamp(now()));
    if (revisions !== undefined) await acts.do(act, caller(call), { package: subject, rule, revisions, reason });
    return { deleted: revisions !== undefined, ...presentOldRevisions(candidates) };
  },
});
