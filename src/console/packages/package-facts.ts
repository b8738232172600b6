// The details of a package: its publisher, its collaborators, its links.
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, joined, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { facts } from '../parts/table.ts';
import { formatCount, identifier, size, time } from '../parts/values.ts';
import { addressOf } from './address.ts';

/** The maximum number of collaborators, and of links, to show. */
const maxShown = 20;

export async function renderPackageFacts(
  { accounts, collaborators, inventory }: Pick<HandlerRecords, 'accounts' | 'collaborators' | 'inventory'>,
  subject: PublishedPackage,
): Promise<Html> {
  const others = await collaborators.list(subject.id);
  const people = await accounts.byIds(others.slice(0, maxShown).map(({ accountId }) => accountId));
  const names = [...people.values()].map(({ username }) => username).join(', ');
  const figures = await inventory.figuresOf(subject.id);
  const isForeign = await accounts.isForeign(subject.publisherId);
  return html`<h2>Details</h2>
    ${facts([
      ['Publisher', subject.publisher.username],
      [
        'Collaborators',
        others.length > maxShown ? `${names} and ${formatCount(others.length - maxShown, 'other')}` : names || 'None',
      ],
      [
        'Comes from',
        isForeign
          ? 'Another store. The publisher is an account of that store, and the package arrives by transfers.'
          : 'This store',
      ],
      ['Visible to', subject.private ? 'Its publisher and collaborators (private)' : 'Everybody'],
      ['Default track', subject.defaultTrack ?? 'None, which means latest'],
      ['Registered', time(subject.createdAt)],
      ['Last release', figures.releasedAt === null ? 'Never' : time(figures.releasedAt)],
      ['On the disk', `${size(figures.bytes)}, ${formatCount(figures.revisions, 'revision')}`],
      ['Id', identifier(subject.id)],
      ...linksOf(subject),
    ])}
    <p><a href="${addressOf(subject, 'describe')}">Edit metadata</a></p>`;
}

const linksOf = ({ links }: PublishedPackage): [string, HtmlContent][] =>
  Object.entries(links)
    .filter(([, addresses]) => addresses.length > 0)
    .map(([kind, addresses]) => [
      `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
      joined(addresses.slice(0, maxShown).map(linkOf), html`<br />`),
    ]);

/** Makes a stored address a link only if it leads to a web page. */
function linkOf(text: string): Html {
  const address = URL.parse(text);
  if (address === null || !['http:', 'https:'].includes(address.protocol)) return html`${text}${nothing}`;
  return html`<a href="${address.href}" rel="noreferrer noopener">${text}</a>`;
}
