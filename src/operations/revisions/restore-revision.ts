import { restoreRevision as act } from '#acts/revisions.ts';
import { beyondChannels } from '#api/beyond-channels.ts';
import { operation } from '#api/operation.ts';
import { caller } from '../by.ts';
import { parseRevisionNumber } from './revision-named.ts';

export const restoreRevision = operation({
  name: 'restore_revision',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/revisions/:revision/restore',
  since: 0,
  summary: 'Bring back a revision that was withdrawn, so that it can be released again.',
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
