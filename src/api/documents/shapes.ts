// The pages of the shapes: what goes in and out, one page for each file of schemas/.
import { openapi } from '../openapi.ts';
import type { Operation } from '../operation.ts';
import { html, joined, type Html } from '../pages/html.ts';
import { shapes } from '../schema.ts';
import { lines } from './page.ts';
import { reference, schemasIn } from './schemas.ts';

const home = (file: string): string => file.replace('.json', '');

/** The names of the pages, which are those of the files. */
export const shapeFiles = (): string[] => [...new Set(shapes().map(({ file }) => home(file)))];

/** Which page has a shape. */
const pageOf = (shape: string): string => home(shapes().find((one) => one.shape === shape)?.file ?? '');

export const shapeLink = (shape: string): Html => html`<a href="/docs/shapes-${pageOf(shape)}#${shape}">${shape}</a>`;

/** The shapes that operations name, by the page that has them. */
function named(operations: readonly Operation[]): Map<string, [string, object][]> {
  const { paths } = openapi([{ title: '', about: '', operations: [...operations] }], '');
  const queries = operations.flatMap(({ query }) => (query === undefined ? [] : [reference(query)]));
  return Map.groupBy(Object.entries(schemasIn([paths, queries])), ([name]) => pageOf(name));
}

/** The list of all shapes. */
export function shapesIndex(operations: readonly Operation[]): Html {
  const lists = [...named(operations)].map(([file, own]) => {
    const links = own.map(([name]) => shapeLink(name));
    return html`<h2 id="${file}">${file}</h2>
      <p class="index">${joined(links, ' ')}</p>`;
  });
  return html`<p class="lead">What goes in and out, as JSON Schema.</p>
    ${lists}`;
}

/** The shapes of one file. */
export function shapesOf(file: string, operations: readonly Operation[]): Html {
  const own = (named(operations).get(file) ?? []).map(
    ([name, schema]) =>
      html`<section id="${name}">
        <h2>${name}</h2>
        ${lines(linked(JSON.stringify(schema, undefined, 2)))}
      </section> `,
  );
  return own.length === 0 ? html`<p>No operation has a shape of this file.</p>` : html`${own}`;
}

/** The text of a schema, in which every reference leads to its shape. */
const linked = (text: string): (string | Html)[] =>
  text.split(/#\/components\/schemas\/(\w+)/).map((piece, at) => (at % 2 === 0 ? piece : shapeLink(piece)));
