// The pages of the operations: a list of all, and one page per section with an example of each operation.
import { html, joined, type HtmlContent, type Html } from '#http/pages/html.ts';
import { isForAnyone, type Operation, type OperationSection } from '#http/operation.ts';
import { statuses } from '#domain/refusal.ts';
import { examples, type Example } from './examples.ts';
import { slug } from './guides.ts';
import { code, lines } from './page.ts';
import { refusalsOf } from './responses.ts';
import { shapeLink } from './shape-pages.ts';

const pageOf = ({ title }: OperationSection): string => `/docs/operations-${slug(title)}`;

export const operationLink = (section: OperationSection, { name }: Operation): Html =>
  html`<a href="${pageOf(section)}#${name}">${name}</a>`;

/** Every operation in one line, by section. */
export function operationsIndex(sections: readonly OperationSection[]): Html {
  const lists = sections.map((section) => {
    const { title, about } = section;
    const entries = section.operations.map(
      (op) => html`<li id="${op.name}">${address(op)}<br />${operationLink(section, op)} ${op.summary}</li>`,
    );
    return html`<section>
      <h2 id="${slug(title)}"><a href="${pageOf(section)}">${title}</a></h2>
      <p>${about}</p>
      <ul class="list">
        ${entries}
      </ul>
    </section> `;
  });
  return html`<p class="lead">
      The paths are relative to <code>/</code> and, unless stated otherwise, also to <code>/publishergw</code>. This
      page lists all operations; each section has a page with examples.
    </p>
    ${lists}`;
}

const address = ({ method, path }: Operation): Html =>
  html`<span class="method ${method.toLowerCase()}">${method}</span> ${code(path)}`;

/** The operations of one section. */
export const operationsOf = ({ about, operations }: OperationSection): Html =>
  html`<p class="lead">${about}</p>
    ${operations.map(entry)}`;

function entry(op: Operation): Html {
  const facts = factsOf(op).map(
    ([term, text]) =>
      html`<dt>${term}</dt>
        <dd>${text}</dd>`,
  );
  return html`<article>
    <h2 id="${op.name}">${op.name}</h2>
    <p>${address(op)}</p>
    <p>${op.summary}</p>
    <dl>${facts}</dl>
    ${exampleOf(op)}
  </article> `;
}

/** The facts of an operation for its table. */
function factsOf(op: Operation): [string, HtmlContent][] {
  const { access, since, query, body, response, enabledBy, also } = op;
  const produces = Array.isArray(op.produces) ? (op.produces as string[]) : Object.keys(op.produces ?? {});
  const meanings = Object.entries(also ?? {}).map(([status, meaning]) => `${status}: ${meaning}`);
  const refusals = refusalsOf(op).map((refusalCode) => [statuses[refusalCode], ' ', code(refusalCode)]);
  const facts: [string, HtmlContent][] = [
    ['Who', access.who],
    ['Needs', joined(access.permissions.map(code), ' or ')],
    ['Query', query && shapeLink(query)],
    ['Body', body && shapeLink(body)],
    ['Answer', response && shapeLink(response)],
    ['Answers with', joined(produces.map(code), ', ')],
    ['Also', meanings.join(' ')],
    ['Refuses with', joined(refusals, ', ')],
    ['Only with', enabledBy && code(enabledBy)],
    ['Since', since === 0 ? 'beside the interface' : `version ${String(since)}`],
  ];
  return facts.filter(([, text]) => (Array.isArray(text) ? text.length > 0 : text !== undefined && text !== ''));
}

/** The example as a shell command, and its response. */
function exampleOf(op: Operation): Html {
  const example = examples().get(op.name);
  return lines([curl(op, example), example && came(example)]);
}

function came({ status, type, answer }: Example): string {
  const first = type === undefined ? String(status) : `${String(status)} ${type}`;
  return ['', first, ...(answer === undefined ? [] : [JSON.stringify(answer, undefined, 2)])].join('\n\n');
}

function curl(op: Operation, example: Example | undefined): string {
  const path = example?.path ?? op.path.replace(/:(\w+)/g, (_, word: string) => word.toUpperCase());
  return [
    `curl ${op.method === 'GET' ? '' : `-X ${op.method} `}'https://STORE${path}'`,
    ...(isForAnyone(op) ? [] : ["-H 'Authorization: Macaroon TOKEN'"]),
    ...(example?.body === undefined ? [] : [`--json '${JSON.stringify(example.body).replaceAll("'", "'\\''")}'`]),
  ].join(' \\\n  ');
}
