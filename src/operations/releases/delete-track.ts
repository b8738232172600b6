import { deleteTrack as act } from '#acts/releases/tracks.ts';
import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';

export const deleteTrack = operation({
  name: 'delete_track',
  method: 'DELETE',
  path: '/internal/v1/packages/:namespace/:name/tracks/:track',
  since: 0,
  summary: 'Delete a track with no revisions in its channels and branches.',
  access: onPackage('package-manage-releases'),
  response: 'DeletedTrack',
  refuses: ['conflict'],

  async handle(call) {
    const { package: subject, params, acts } = call;
    await acts.do(act, caller(call), { package: subject, track: params.track });
    return { name: params.track };
  },
});
