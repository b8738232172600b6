import { heldBack } from '#acts/gate.ts';
import { pushReleases as act } from '#acts/releases.ts';
import { onPackage } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { progressOf } from '#domain/channel-map.ts';
import { caller } from '../by.ts';
import { readChannel, refuseOutOfReach } from './channels.ts';

export const pushReleases = operation({
  name: 'push_releases',
  method: 'POST',
  path: '/v1/:namespace/:name/releases',
  since: 1,
  summary: 'Release revisions to channels, or close channels; all of it or nothing.',
  access: onPackage('package-manage-releases'),
  body: 'PushReleasesRequest',
  response: 'PushReleasesResponse',
  refuses: ['conflict', ...heldBack],

  async handle(call) {
    const { package: subject, principal, body, acts } = call;
    const releases = body.map(({ channel, revision, progressive, resources }) => ({
      channel: readChannel(channel),
      revision,
      progressive: progressOf(progressive),
      resources: resources ?? [],
    }));
    for (const { channel } of releases) refuseOutOfReach(principal, channel);
    const released = await acts.do(act, caller(call), { package: subject, releases });
    return {
      released: released.map(({ channel, revision, resources }) => ({
        channel,
        revision,
        resources: resources.map(({ name, revision }) => ({ name, revision })),
      })),
    };
  },
});
