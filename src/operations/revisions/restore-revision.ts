import { restoreRevision as act } from '#acts/revisions/revisions.ts';
import { beyondChannels } from '#access/beyond-channels.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { parseRevisionNumber } from './parse-revision-number.ts';

export const restoreRevision = operation({
  name: 'restore_revision',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/revisions/:revision/restore',
  since: 0,
  summary: 'Restore a withdrawn revision, so that it can be released again.',
  access: beyondChannels('package-manage-releases'),
  response: 'RestoredRevision',
  refuses: ['conflict'],

  async handle(call) {
    const { package: subject, params, acts } = call;
    const revision = parseRevisionNumber(params.revision);
    await acts.do(act, caller(call), { package: subject, revision });
    return { revision };
  },
});
