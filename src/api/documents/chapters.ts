// The pages that are neither guides nor lists of operations or shapes.
import { everyAct } from '#acts/index.ts';
import { permissions } from '#domain/permission.ts';
import { statuses } from '#domain/refusal.ts';
import type { Section } from '../operation.ts';
import { html, joined, type Content, type Html } from '../pages/html.ts';
import { operationLink } from './operations.ts';
import { code, guides } from './page.ts';

const teasers = {
  publisher: 'From an account to a released revision, with the tools you have.',
  console: 'How it stands, what waits, who may do what: the store for people who would rather look than read.',
  administrator: 'Set up, watch, back up, upgrade: one command for each.',
  devices: 'What snapd needs of this store, and how a device is pointed here.',
  juju: 'How a controller is pointed here, also one that runs already.',
  transfers: 'One file out, one file in: from one site to another that has no network.',
  'device-gateway': 'What a gateway asks of this store, and what devices must trust.',
  approvals: 'What waits until others approve of it, and how they do.',
  recovery: 'Lost keys, damaged disks, a clock that was wrong.',
};

/** The first page. */
export const first = (): Html => {
  const card = (address: string, title: string, teaser: string): Html =>
    html`<a class="card" href="/${address}"><strong>${title}</strong><span>${teaser}</span></a>`;
  return html`<p class="lead">
      This is larder, which keeps and serves the packages of a site without internet. These pages come from the store
      itself: they are about exactly the release that runs here, and ask nothing of any other machine.
    </p>
    <div class="cards">
      ${Object.entries(guides).map(([name, title]) =>
        card(`docs/${name}`, title, teasers[name as keyof typeof guides]),
      )}
      ${card('docs/operations', 'Operations', 'Every call of the interface, who may make it, and what it answers.')}
      ${card('openapi.json', 'openapi.json', 'The same for programs: OpenAPI 3.1.')}
    </div>`;
};

const table = (headings: readonly string[], rows: readonly (readonly Content[])[]): Html =>
  html`<table>
    <thead>
      <tr>
        ${headings.map((heading) => html`<th>${heading}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (cells) =>
          html`<tr>
            ${cells.map((cell) => html`<td>${cell}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;

/** The statuses and codes of refusals. */
export function errors(): Html {
  const rows = Object.entries(statuses).map(([name, status]) => [status, code(name)]);
  return html`<p class="lead">
      A refused call is answered with ${code('{"error-list": [{"code", "message"}]}')}. The code is for programs and
      never changes; the message is for people and says what to do.
    </p>
    <p>
      A package that is not there and one that is somebody else's are answered alike, with 404
      <code>resource-not-found</code>. 429 and 507 carry <code>Retry-After</code>. A 5xx other than 503 and 507 is the
      store's own fault; its log has the details under the answer's <code>x-request-id</code>.
    </p>
    ${table(['Status', 'Code'], rows)}`;
}

/** Which permission opens what. */
export function permissionTable(sections: readonly Section[]): Html {
  const rows = permissions.map((permission) => {
    const links = sections.flatMap((section) =>
      section.operations
        .filter(({ access }) => access.permissions.includes(permission))
        .map((op) => operationLink(section, op)),
    );
    return [code(permission), links.length === 0 ? '—' : joined(links, ', ')];
  });
  return html`<p class="lead">
      A token holds permissions, and lets its account do what at least one of them allows. A token without a list holds
      them all.
    </p>
    ${table(['Permission', 'Operations'], rows)}`;
}

/** The words of the audit log: what may be done to the store, and whether it may wait until others approve of it. */
export function auditWords(): Html {
  const byWord = everyAct.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const rows = byWord.map(({ name, outcome, summary, on, gate }) => [
    [code(name), outcome === 'refused' && ', refused'],
    summary,
    code(on),
    'kinds' in gate ? `yes: ${gate.kinds.join(', ')}` : `no: ${gate.never}`,
  ]);
  return html`<p class="lead">
      Whatever is done to the store stands in its audit log, in the same transaction as the change: when it was done, by
      whom, and to what. These are its words. Whoever did it is an account, <code>cli:USER</code> for a command on the
      host, <code>device:KEY</code> for a device, or <code>larder</code> for what the store does by itself.
    </p>
    <p>What may wait can be held until another person approves of it; what cannot says why.</p>
    ${table(['Word', 'What it does', 'To what', 'May wait'], rows)}`;
}
