// The guides. They are Markdown in docs/guides/; packaging/render-guides.ts writes the HTML that is read here.
import { embeddedText } from '#src/embedded.ts';
import { markup, type Html } from '../pages/html.ts';

export const guides = {
  publisher: 'Publishing packages',
  administrator: 'Looking after the store',
  console: 'In a browser',
  devices: 'Looking after devices',
  juju: 'Charms for juju',
  transfers: 'Across the gap',
  'device-gateway': 'Device gateways',
  approvals: 'Approvals by several people',
  hosts: 'Several hosts',
  recovery: 'When something went wrong',
  incident: 'Stolen, leaked or released by mistake',
} as const;

export type Guide = keyof typeof guides;

export const teasers: Readonly<Record<Guide, string>> = {
  publisher: 'From an account to a released revision, with the tools you have.',
  console: 'How it stands, what waits, who may do what: the store for people who would rather look than read.',
  administrator: 'Set up, watch, back up, upgrade: one command for each.',
  devices: 'What snapd needs of this store, and how a device is pointed here.',
  juju: 'How a controller is pointed here, also one that runs already.',
  transfers: 'One file out, one file in: from one site to another that has no network.',
  'device-gateway': 'What a gateway asks of this store, and what devices must trust.',
  approvals: 'What waits until others approve of it, and how they do.',
  hosts: 'PostgreSQL, S3 and a load balancer, for a site that one machine is not enough for.',
  recovery: 'Lost keys, damaged disks, a clock that was wrong.',
  incident: 'A device, a token, a key or a revision in the wrong hands: what to run first.',
};

/** The content of a guide. An operation that it names in code style is a link to the operation's reference. */
export const guide = (name: Guide, operationLinks: ReadonlyMap<string, Html>): Html =>
  markup(
    embeddedText(`src/api/documents/guides/${name}.html`).replace(
      /<code>(\w+)<\/code>/g,
      (code, operation: string) => operationLinks.get(operation)?.toString() ?? code,
    ),
  );

/** A text as it stands in an address. */
export const slug = (text: string): string => text.toLowerCase().replace(/[^a-z]+/g, '-');
