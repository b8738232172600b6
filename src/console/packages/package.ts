// The page of one package: its release matrix, its last change, its details, and lines for publishing tools.
import { onPackage } from '#access/access-rules.ts';
import { html, nothing } from '#http/pages/html.ts';
import { timestamp } from '#domain/clock.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import { isProgressive } from '#domain/releases/channel-map.ts';
import { screen } from '../screen.ts';
import { addressOf } from './address.ts';
import { formatCount } from '../parts/values.ts';
import { renderPackageFacts } from './package-facts.ts';
import { renderPackageHeader } from './package-header.ts';
import { renderLastChange } from '../releases/last-change.ts';
import { renderReleaseMatrix } from '../releases/release-matrix.ts';
import { renderToolLines } from './tool-lines.ts';
import { maxDevices } from './usage.ts';

export const consolePackage = screen({
  name: 'console_package',
  path: '/console/packages/:namespace/:name',
  summary: 'Show a package: its channels, its last change, its details, and the commands to publish it.',
  access: onPackage('package-view-releases'),
  query: 'ConsolePackageQuery',
  refuses: ['forbidden'],

  async show(call) {
    const { package: subject, principal, query, records, config, now } = call;
    const tracks = (await records.tracks.list(subject.id)).map(({ name }) => name);
    const releases = await records.releases.current(subject.id, timestamp(now()));
    const isKnown = subject.namespace === 'snap' && config.devices.snap && config.devices.remember;
    const devices = isKnown ? new Map((await records.seenDevices.holding(subject.id, maxDevices)).holds) : undefined;
    return {
      title: `${subject.namespace}/${subject.name}`,
      heading: await renderPackageHeader(call, subject, ''),
      lead: leadOf(releases, subject),
      content: html`${await renderReleaseMatrix(records, subject, { tracks, releases, devices }, query.track)}
        ${await renderLastChange(records, subject)}
        <p class="row">
          <a class="button" href="${addressOf(subject, 'release')}">Release a revision</a>
          <a href="${addressOf(subject, 'tracks')}">Tracks</a>
          ${subject.namespace === 'snap' ? html`<a href="${addressOf(subject, 'rollouts')}">Rollouts</a>` : nothing}
          ${principal.storeAdministrator && subject.namespace === 'snap' ? html`<a href="${addressOf(subject, 'fleets')}">Fleets</a> <a href="${addressOf(subject, 'device-grants')}">Device grants</a>` : nothing}
          ${principal.storeAdministrator ? html`<a href="${addressOf(subject, 'guardrails')}">Guardrails</a>` : nothing}
        </p>
        ${renderToolLines(config, subject)} ${await renderPackageFacts(records, subject)}`,
    };
  },
});

/** A sentence about the released revisions; the stable channel of the default track comes first. */
function leadOf(releases: readonly Release[], { defaultTrack }: PublishedPackage): string {
  if (releases.length === 0) return 'No revision is released.';
  const open = new Set(releases.map(({ channel }) => channel)).size;
  const held = releases.filter(
    ({ channel, progressive }) => channel.endsWith('/stable') && !isProgressive(progressive),
  );
  const stable = held.find(({ channel }) => channel === `${defaultTrack ?? 'latest'}/stable`) ?? held[0];
  return `${formatCount(open, 'channel')} ${open === 1 ? 'holds' : 'hold'} something; ${
    stable === undefined ? 'nothing is in stable' : `${stable.channel} holds revision ${String(stable.revision)}`
  }.`;
}
