// The page of one package: its channel map, revisions, usage, and lines for publishing tools.
import { onPackage } from '#access/access-rules.ts';
import { html, nothing } from '#http/pages/html.ts';
import { timestamp } from '#domain/clock.ts';
import type { Release } from '#records/releases/releases.ts';
import { isProgressive } from '#domain/releases/channel-map.ts';
import { screen } from '../screen.ts';
import { formatCount } from '../parts/values.ts';
import { renderPackageFacts } from './package-facts.ts';
import { renderChannelMap } from '../releases/channel-map.ts';
import { renderUsage } from './usage.ts';
import { renderReleases } from '../releases/history.ts';
import { renderResources } from '../resources/resources.ts';
import { renderRevisions } from '../revisions/revisions.ts';
import { renderToolLines } from './tool-lines.ts';

/** The number of last releases shown. */
const lastReleases = 10;

export const consolePackage = screen({
  name: 'console_package',
  path: '/console/packages/:namespace/:name',
  summary: 'Show a package: its channels, revisions, releases and downloads, and the commands to publish it.',
  access: onPackage('package-view-releases'),
  query: 'ConsolePackageQuery',
  refuses: ['forbidden'],

  async show(call) {
    const { package: subject, principal, query, records, config, now } = call;
    const tracks = (await records.tracks.list(subject.id)).map(({ name }) => name);
    const releases = await records.releases.current(subject.id, timestamp(now()));
    return {
      title: `${subject.namespace}/${subject.name}`,
      lead: leadOf(releases),
      content: html`${await renderPackageFacts(records, subject)}
        ${await renderChannelMap(records, subject, { tracks, releases }, query.track)}
        ${await renderResources(records, subject, releases)} ${await renderUsage(call, subject)}
        ${renderToolLines(config, subject)}
        <h2>Releases</h2>
        ${await renderReleases(records, subject, {}, lastReleases)}
        <h2>Revisions</h2>
        ${await renderRevisions(records, subject, {})}
        ${principal.storeAdministrator ? html`<p><a href="/console/audit?object=${encodeURIComponent(`${subject.namespace}/${subject.name}`)}">Changes of the package</a> in the audit log.</p>` : nothing}`,
    };
  },
});

/** A sentence about the released revisions. */
function leadOf(releases: readonly Release[]): string {
  if (releases.length === 0) return 'No revision is released.';
  const open = new Set(releases.map(({ channel }) => channel)).size;
  const stable = releases.find(
    ({ channel, progressive }) => channel.endsWith('/stable') && !isProgressive(progressive),
  );
  return `${formatCount(open, 'channel')} ${open === 1 ? 'holds' : 'hold'} something; ${
    stable === undefined ? 'nothing is in stable' : `${stable.channel} holds revision ${String(stable.revision)}`
  }.`;
}
