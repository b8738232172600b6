// The pages that are neither guides nor lists of operations or shapes.
import { STATUS_CODES } from 'node:http';

import type { Act } from '#acts/act.ts';
import { retiredWords, wordsOfAct } from '#acts/audit-words.ts';
import { actsBySubject } from '#acts/index.ts';
import { permissions } from '#domain/tokens/permission.ts';
import { statuses } from '#domain/refusal.ts';
import type { OperationSection } from '#http/operation.ts';
import { html, joined, type HtmlContent, type Html } from '#http/pages/html.ts';
import { operationLink } from './operation-pages.ts';
import { guides, slug, teasers, type Guide } from './guides.ts';
import { code } from './page.ts';

/** The start page of the documentation: links to the guides and to the reference. */
export const firstPage = (): Html => {
  const card = (address: string, title: string, teaser: string): Html =>
    html`<a class="card" href="/${address}"><strong>${title}</strong><span>${teaser}</span></a>`;
  return html`<p class="lead">
      This is larder, which keeps and serves the packages of a site without internet. These pages come from the store
      itself: they are about exactly the release that runs here, and ask nothing of any other machine.
    </p>
    <div class="cards">
      ${Object.entries(guides).map(([name, title]) => card(`docs/${name}`, title, teasers[name as Guide]))}
      ${card('docs/operations', 'Operations', 'All operations of the interface, with access rules, requests and responses.')}
      ${card('openapi.json', 'openapi.json', 'The same for programs: OpenAPI 3.1.')}
    </div>`;
};

/** The first cell is the title of the row; `id` is its address in the page. */
interface DocumentTableRow {
  id: string;
  cells: readonly [HtmlContent, ...HtmlContent[]];
}

/** On a narrow screen a row becomes a block; the roles tell screen readers that it is still a table. */
const table = (headings: readonly string[], rows: readonly DocumentTableRow[]): Html =>
  html`<table role="table">
    <thead role="rowgroup">
      <tr role="row">
        ${headings.map((heading) => html`<th role="columnheader" scope="col">${heading}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(({ id, cells: [name, ...others] }) => {
        const cells = others.map(
          (cell, at) => html`<td role="cell" data-heading="${headings[at + 1]}"><div>${cell}</div></td>`,
        );
        return html`<tr id="${id}" role="row">
          <th role="rowheader" scope="row">${name}</th>
          ${cells}
        </tr> `;
      })}
    </tbody>
  </table>`;

/** The statuses and codes of refusals. */
export function errors(): Html {
  const rows = Object.entries(statuses).map(([name, status]): DocumentTableRow => {
    return { id: name, cells: [code(name), `${String(status)} ${STATUS_CODES[status] ?? ''}`] };
  });
  return html`<p class="lead">
      If the store refuses a call, the response is ${code('{"error-list": [{"code", "message"}]}')}. The code is for
      programs and never changes. The message is for people and gives the problem and the remedy.
    </p>
    <p>
      For a package that does not exist and for a package without access, the response is the same: 404
      <code>resource-not-found</code>. Responses with 429 and 507 have the header <code>Retry-After</code>. A 5xx other
      than 503 and 507 is an error of the store. Find its details in the log by the <code>x-request-id</code> of the
      response.
    </p>
    ${table(['Code', 'Status'], rows)}`;
}

/** The operations that each permission allows. */
export function permissionTable(sections: readonly OperationSection[]): Html {
  const rows = permissions.map((permission): DocumentTableRow => {
    const links = sections.flatMap((section) =>
      section.operations
        .filter(({ access }) => access.permissions.includes(permission))
        .map((op) => operationLink(section, op)),
    );
    return { id: permission, cells: [code(permission), links.length === 0 ? '—' : joined(links, ', ')] };
  });
  return html`<p class="lead">
      A token holds permissions. An operation needs one of the permissions listed for it. A token without a list holds
      all permissions.
    </p>
    ${table(['Permission', 'Operations'], rows)}`;
}

/** The words of the audit log: the acts on the store, and whether they may wait for approvals. */
export function auditWords(): Html {
  const tables = Object.entries(actsBySubject).map(
    ([subject, acts]) =>
      html`<h2 id="${subject}">${subject.charAt(0).toUpperCase()}${subject.slice(1)}</h2>
        ${table(['Act', 'Effect', 'Object', 'Can wait for approvals'], acts.map(wordOf))}`,
  );
  return html`<p class="lead">
      The audit log has an entry for each change of the store, written in the transaction of the change: the time, the
      actor, the act and the object. This page lists the acts. The actor is an account, <code>cli:USER</code> for a
      command on the host, <code>device:KEY</code> for a device, or <code>larder</code> for the store itself.
    </p>
    <p>
      The name of an act is <code>verb_object</code>. Entries of earlier releases may have another name. Lists show the
      present name for them, and each filter accepts both. An entry keeps the name that was written, because its hash
      covers it: exports and the member <code>action</code> give this name, and the member <code>act</code> gives the
      present one. Release 0.1.0 also wrote ${joined(retiredWords.map(code), ', ')}, for acts that no longer exist or
      are two.
    </p>
    <p>
      The approval policy can hold an act marked "yes" until other people approve it. For the other acts, the table
      gives the reason why it cannot.
    </p>
    ${tables}`;
}

/** The former words are in the heading of the row, so that a search for one of them finds it. */
function formerWordsOf(name: string): Html | false {
  const [, ...former] = wordsOfAct(name);
  return former.length > 0 && html` <small>formerly ${joined(former.map(code), ', ')}</small>`;
}

const wordOf = ({ name, outcome, summary, on, gate }: Act<never, unknown>): DocumentTableRow => ({
  // One word may be used for a done and for a refused act.
  id: outcome === 'refused' ? `${slug(name)}-refused` : slug(name),
  cells: [
    [code(name), outcome === 'refused' && ', refused', formerWordsOf(name)],
    summary,
    code(on),
    'kinds' in gate ? `yes: ${gate.kinds.join(', ')}` : `no: ${gate.never}`,
  ],
});
