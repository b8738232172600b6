import { createTracks as act } from '#acts/releases/tracks.ts';
import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';

export const createTracks = operation({
  name: 'create_tracks',
  method: 'POST',
  path: '/v1/:namespace/:name/tracks',
  since: 0,
  summary: "Create tracks that match one of the package's guardrails, all or none.",
  access: onPackage('package-manage-releases'),
  body: 'CreateTracksRequest',
  response: 'CreateTracksResponse',
  status: 201,
  refuses: ['invalid-tracks', 'conflicting-tracks'],

  async handle(call) {
    const { package: subject, body, acts } = call;
    const tracks = body.map((track) => {
      const { name, 'version-pattern': versionPattern = null, 'automatic-phasing-percentage': phasing = null } = track;
      return { name, versionPattern, automaticPhasingPercentage: phasing === null ? null : Number(phasing) };
    });
    await acts.do(act, caller(call), { package: subject, tracks });
    return { 'num-tracks-created': body.length };
  },
});
