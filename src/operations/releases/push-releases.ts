import { gateErrorCodes } from '#acts/gate.ts';
import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { performRequestedReleases } from './release-request.ts';

export const pushReleases = operation({
  name: 'push_releases',
  method: 'POST',
  path: '/v1/:namespace/:name/releases',
  since: 1,
  summary: 'Release revisions to channels, or close channels, all or none.',
  access: onPackage('package-manage-releases'),
  body: 'PushReleasesRequest',
  response: 'PushReleasesResponse',
  refuses: ['conflict', ...gateErrorCodes],

  async handle(call) {
    const released = await performRequestedReleases(call, call.body);
    return {
      released: released.map(({ channel, revision, resources }) => ({
        channel,
        revision,
        resources: resources.map(({ name, revision }) => ({ name, revision })),
      })),
    };
  },
});
