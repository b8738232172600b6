// The pages of the operations: a list of all, and one page for each section, with an example of each.
import { isForAnyone, type Operation, type Section } from '../operation.ts';
import { statuses } from '#domain/refusal.ts';
import { examples, type Example } from './examples.ts';
import { code, escape, slug } from './html.ts';
import { refusalsOf } from './responses.ts';
import { shapeLink } from './shapes.ts';

const pageOf = ({ title }: Section): string => `/docs/operations-${slug(title)}`;

export const operationLink = (section: Section, { name }: Operation): string =>
  `<a href="${pageOf(section)}#${name}">${name}</a>`;

/** Every operation in one line, by section. */
export function operationsIndex(sections: readonly Section[]): string {
  const index = sections.map(({ title }) => `<a href="#${slug(title)}">${escape(title)}</a>`);
  const lists = sections.map((section) => {
    const lines = section.operations.map(
      (op) => `<li id="${op.name}">${address(op)}<br>${operationLink(section, op)} ${escape(op.summary)}</li>`,
    );
    const { title, about } = section;
    return `<section><h2 id="${slug(title)}"><a href="${pageOf(section)}">${escape(title)}</a></h2><p>${escape(about)}</p><ul class="list">${lines.join('')}</ul></section>`;
  });
  return `<p class="lead">Paths stand at <code>/</code> and, where not said otherwise, at <code>/publishergw</code>. The whole list is on this
page, so that your browser's own search finds what you look for; each section has a page with examples.</p>
<p class="index">${index.join(' ')}</p>${lists.join('\n')}`;
}

const address = ({ method, path }: Operation): string =>
  `<span class="method ${method.toLowerCase()}">${method}</span> <code>${escape(path)}</code>`;

/** The operations of one section. */
export function operationsOf(section: Section): string {
  const index = section.operations.map(({ name }) => `<a href="#${name}">${name}</a>`);
  return `<p class="lead">${escape(section.about)}</p><p class="index">${index.join(' ')}</p>${section.operations.map(entry).join('\n')}`;
}

function entry(op: Operation): string {
  const facts = factsOf(op).map(([term, text]) => `<dt>${term}</dt><dd>${text}</dd>`);
  return `<article id="${op.name}">
<h2>${op.name}</h2>
<p>${address(op)}</p>
<p>${escape(op.summary)}</p>
<dl>${facts.join('')}</dl>
${exampleOf(op)}
</article>`;
}

function factsOf(op: Operation): [string, string][] {
  const { access, since, query, body, response, enabledBy, also } = op;
  const produces = Array.isArray(op.produces) ? (op.produces as string[]) : Object.keys(op.produces ?? {});
  const facts: [string, string | undefined][] = [
    ['Who', escape(access.who)],
    ['Needs', access.permissions.map(code).join(' or ')],
    ['Query', query && shapeLink(query)],
    ['Body', body && shapeLink(body)],
    ['Answer', response && shapeLink(response)],
    ['Answers with', produces.map(code).join(', ')],
    [
      'Also',
      Object.entries(also ?? {})
        .map(([status, meaning]) => `${status}: ${escape(meaning)}`)
        .join(' '),
    ],
    [
      'Refuses with',
      refusalsOf(op)
        .map((one) => `${String(statuses[one])} ${code(one)}`)
        .join(', '),
    ],
    ['Only with', enabledBy && code(enabledBy)],
    ['Since', since === 0 ? 'beside the interface' : `version ${String(since)}`],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== undefined && fact[1] !== '');
}

/** The example as a shell has it, and what came back. */
function exampleOf(op: Operation): string {
  const example = examples().get(op.name);
  const answer = example?.answer === undefined ? '' : `\n\n${JSON.stringify(example.answer, undefined, 2)}`;
  const came =
    example === undefined
      ? ''
      : `\n\n${String(example.status)}${example.type === undefined ? '' : ` ${example.type}`}${answer}`;
  return `<pre><code>${escape(curl(op, example) + came)}</code></pre>`;
}

function curl(op: Operation, example: Example | undefined): string {
  const path = example?.path ?? op.path.replace(/:(\w+)/g, (_, word: string) => word.toUpperCase());
  return [
    `curl ${op.method === 'GET' ? '' : `-X ${op.method} `}'https://STORE${path}'`,
    ...(isForAnyone(op) ? [] : ["-H 'Authorization: Macaroon TOKEN'"]),
    ...(example?.body === undefined ? [] : [`--json '${JSON.stringify(example.body).replaceAll("'", "'\\''")}'`]),
  ].join(' \\\n  ');
}
