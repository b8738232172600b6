import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { presentRevision } from '../revisions/present.ts';
import { channelsOf, presentChannel, presentCraftRelease, presentRelease } from './present.ts';

export const listReleases = operation({
  name: 'list_releases',
  method: 'GET',
  path: '/v1/:namespace/:name/releases',
  since: 1,
  summary: "List the revisions in a package's channels.",
  access: onPackage('package-view-releases'),
  response: 'ListReleasesResponse',

  async handle({ package: subject, records, now }) {
    const { namespace } = subject;
    const [tracks, releases] = await Promise.all([
      records.tracks.list(subject.id),
      records.releases.current(subject.id, timestamp(now())),
    ]);
    const channels = channelsOf(
      tracks.map(({ name }) => name),
      releases,
    );
    const order = new Map(channels.map(({ name }, at) => [name, at]));
    releases.sort((a, b) => (order.get(a.channel) ?? 0) - (order.get(b.channel) ?? 0));
    const numbers = [...new Set(releases.map(({ revision }) => revision))];
    const [revisions, commits] = await Promise.all([
      records.revisions.listOf(subject.id, numbers),
      records.buildSets.commitsOf(subject.id, numbers),
    ]);
    return {
      'channel-map': releases.map((release) => presentRelease(release, namespace)),
      // The commit of a revision is known only if build hosts have reported it.
      ...((namespace === 'sdk' || namespace === 'source') && {
        'craft-channel-map': releases.flatMap((release) => presentCraftRelease(release, commits.get(release.revision))),
      }),
      package: { channels: channels.map(presentChannel) },
      revisions: revisions.map((revision) => presentRevision(revision, namespace, commits.get(revision.revision))),
    };
  },
});
