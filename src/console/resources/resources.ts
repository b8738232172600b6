// The resources of a charm, and the components of a snap.
import { onPackage } from '#access/access-rules.ts';
import { timestamp } from '#domain/clock.ts';
import { html } from '#http/pages/html.ts';
import type { Release } from '#records/releases/releases.ts';
import { renderPackageHeader } from '../packages/package-header.ts';
import { table } from '../parts/table.ts';
import { screen } from '../screen.ts';

/** The maximum number of resources to show, and of channels for each resource. */
const maxShown = 50;
const maxChannels = 10;

export const consoleResources = screen({
  name: 'console_resources',
  path: '/console/packages/:namespace/:name/resources',
  summary: 'List the resources of a charm, or the components of a snap, with their released revisions.',
  access: onPackage('package-view-releases'),
  query: 'ConsolePageQuery',
  refuses: ['forbidden'],

  async show(call) {
    const { package: subject, records, now } = call;
    const releases = await records.releases.current(subject.id, timestamp(now()));
    const declared = await records.resources.list(subject.id, await records.revisions.newest(subject.id));
    const line =
      subject.namespace === 'charm'
        ? `charmcraft upload-resource ${subject.name} RESOURCE --filepath=FILE`
        : 'snapcraft upload --component';
    return {
      title: `Resources of ${subject.namespace}/${subject.name}`,
      heading: await renderPackageHeader(call, subject, 'resources'),
      content: html`<p>
          These are the resources that the newest revision declares. Push a new revision of a resource with
          <code>${line}</code>.
        </p>
        ${table({
          caption: 'Resources',
          columns: [
            { heading: 'Resource', cell: ({ name }) => name },
            { heading: 'Kind', cell: ({ type, optional }) => (optional ? `${type}, may be missing` : type) },
            { heading: 'Newest revision', number: true, cell: ({ newest }) => newest ?? 'None' },
            { heading: 'In channels', cell: ({ name }) => heldWith(name, releases) || 'None' },
          ],
          rows: declared.slice(0, maxShown),
          empty: 'The newest revision declares no resources.',
        })}`,
    };
  },
});

function heldWith(name: string, releases: readonly Release[]): string {
  const held = new Map<string, number>();
  for (const { channel, resources } of releases) {
    const revision = resources.find((resource) => resource.name === name)?.revision;
    if (typeof revision === 'number') held.set(channel, revision);
  }
  const all = [...held].map(([channel, revision]) => `${channel}: ${String(revision)}`);
  return all.length > maxChannels ? `${all.slice(0, maxChannels).join(', ')} and others` : all.join(', ');
}
