import { withdrawRevision as act } from '#acts/revisions/revisions.ts';
import { beyondChannels } from '#access/beyond-channels.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { parseRevisionNumber } from './parse-revision-number.ts';

export const withdrawRevision = operation({
  name: 'withdraw_revision',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/revisions/:revision/withdraw',
  since: 0,
  summary:
    'Withdraw a revision, with a reason. It is removed from all channels and cannot be released until it is restored.',
  access: beyondChannels('package-manage-releases'),
  body: 'WithdrawRevisionRequest',
  response: 'WithdrawnRevision',
  refuses: ['conflict'],

  async handle(call) {
    const { package: subject, params, body, acts } = call;
    const revision = parseRevisionNumber(params.revision);
    const { reason } = body;
    return { revision, channels: await acts.do(act, caller(call), { package: subject, revision, reason }) };
  },
});
