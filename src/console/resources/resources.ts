// The resources of a charm, and the components of a snap.
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import { table } from '../parts/table.ts';

/** The maximum number of resources to show, and of channels for each resource. */
const maxShown = 50;
const maxChannels = 10;

/** The resources or components that the newest revision declares, with their released revisions; empty if it declares none. */
export async function renderResources(
  { resources, revisions }: Pick<HandlerRecords, 'resources' | 'revisions'>,
  { id, namespace, name }: PublishedPackage,
  releases: readonly Release[],
): Promise<Html> {
  const declared = await resources.list(id, await revisions.newest(id));
  if (declared.length === 0) return nothing;
  const line =
    namespace === 'charm'
      ? `charmcraft upload-resource ${name} RESOURCE --filepath=FILE`
      : 'snapcraft upload --component';
  return html`<h2>Resources</h2>
    <p>The resources that the newest revision declares. Push a new revision of a resource with <code>${line}</code>.</p>
    ${table({
      caption: 'Resources',
      columns: [
        { heading: 'Resource', cell: (resource) => resource.name },
        { heading: 'Kind', cell: ({ type, optional }) => (optional ? `${type}, may be missing` : type) },
        { heading: 'Newest revision', number: true, cell: ({ newest }) => newest ?? 'None' },
        { heading: 'In channels', cell: (resource) => heldWith(resource.name, releases) || 'None' },
      ],
      rows: declared.slice(0, maxShown),
      empty: '',
    })}`;
}

function heldWith(name: string, releases: readonly Release[]): string {
  const held = new Map<string, number>();
  for (const { channel, resources } of releases) {
    const revision = resources.find((resource) => resource.name === name)?.revision;
    if (typeof revision === 'number') held.set(channel, revision);
  }
  const all = [...held].map(([channel, revision]) => `${channel}: ${String(revision)}`);
  return all.length > maxChannels ? `${all.slice(0, maxChannels).join(', ')} and others` : all.join(', ');
}
