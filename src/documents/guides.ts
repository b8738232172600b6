// The guides. They are Markdown in docs/guides/; packaging/render-guides.ts writes the HTML that this module reads.
import { embeddedText } from '#platform/embedded.ts';
import { markup, type Html } from '#http/pages/html.ts';

export const guides = {
  publisher: 'Publishing packages',
  administrator: 'Run the store',
  console: 'In a browser',
  devices: 'Looking after devices',
  juju: 'Charms for juju',
  transfers: 'Across the gap',
  'device-gateway': 'Device gateways',
  approvals: 'Approvals by several people',
  hosts: 'Several hosts',
  recovery: 'Recovery',
  incident: 'Incidents',
} as const;

export type Guide = keyof typeof guides;

export const teasers: Readonly<Record<Guide, string>> = {
  publisher: 'From an account to a released revision, with snapcraft and charmcraft.',
  console: 'The state of the store, pending work and access rights in a browser.',
  administrator: 'Set up, monitor, back up and upgrade the store.',
  devices: 'Serve snaps to devices, and point a device to this store.',
  juju: 'Serve charms to juju, and point a new or a running controller to this store.',
  transfers: 'Move packages to a site without a network, in one signed file.',
  'device-gateway': 'The operations for a device gateway, and the certificate that devices must trust.',
  approvals: 'Changes that wait until several people approve them.',
  hosts: 'Use several hosts with PostgreSQL, S3 and a load balancer.',
  recovery: 'Recover from lost keys, failed disks and wrong clocks, and roll back an upgrade.',
  incident: 'First steps after a device, token or key is stolen, or a revision is released by mistake.',
};

/** The content of a guide. An operation in code style becomes a link to its reference. */
export const guide = (name: Guide, operationLinks: ReadonlyMap<string, Html>): Html =>
  markup(
    embeddedText(`src/documents/guides/${name}.html`).replace(
      /<code>(\w+)<\/code>/g,
      (code, operation: string) => operationLinks.get(operation)?.toString() ?? code,
    ),
  );

/** Turns a text into its form for an address. */
export const slug = (text: string): string => text.toLowerCase().replace(/[^a-z]+/g, '-');
