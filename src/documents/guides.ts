// The guides. They are Markdown in docs/guides/; packaging/render-guides.ts writes the HTML that this module reads.
import { embeddedText } from '#platform/embedded.ts';
import { markup, type Html } from '#http/pages/html.ts';

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
  console: 'The state of the store, what waits for you, and who may do what, on pages.',
  administrator: 'Set up, watch, back up, upgrade: one command for each.',
  devices: 'Serve snaps to devices, and point a device here.',
  juju: 'Serve charms to juju, and point a controller here, also one that runs already.',
  transfers: 'Carry packages to a site without a network, in one signed file.',
  'device-gateway': 'The calls of a gateway, and the certificate that devices must trust.',
  approvals: 'Changes that wait until several people approve them.',
  hosts: 'PostgreSQL, S3 and a load balancer, if one host is not enough.',
  recovery: 'Lost keys, failed disks, wrong clocks, and the way back from an upgrade.',
  incident: 'A device, a token, a key or a revision in the wrong hands: what to run first.',
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
