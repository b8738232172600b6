// The pages of the shapes: one page per file of schemas/.
import { openapi } from './openapi.ts';
import type { Operation } from '#http/operation.ts';
import { html, joined, type Html } from '#http/pages/html.ts';
import { shapes } from '#contract/schema.ts';
import { lines } from './page.ts';
import { reference, schemasIn } from './schemas.ts';

let homes: ReadonlyMap<string, string> | undefined;

/** The page of each shape, by shape name; the pages are named after the files. */
const pages = (): ReadonlyMap<string, string> =>
  (homes ??= new Map(shapes().map(({ shape, file }) => [shape, file.replace('.json', '')])));

export const shapeLink = (shape: string): Html =>
  html`<a href="/docs/shapes-${pages().get(shape)}#${shape}">${shape}</a>`;

/** The pages of the shapes that operations use. */
export interface ShapePages {
  /** The names of the pages. */
  files: readonly string[];
  /** The list of all shapes. */
  index(): Html;
  /** The shapes of one file. */
  page(file: string): Html;
}

export function createShapePages(operations: readonly Operation[]): ShapePages {
  let cachedShapes: ReadonlyMap<string, [string, object][]> | undefined;
  const findUsedShapes = (): ReadonlyMap<string, [string, object][]> => (cachedShapes ??= namedBy(operations));
  return {
    files: [...new Set(pages().values())],
    index() {
      const byFile = [...findUsedShapes()].toSorted(([file], [other]) => (file < other ? -1 : 1));
      const lists = byFile.map(([file, own]) => {
        const links = own.map(([name]) => shapeLink(name));
        return html`<h2 id="${file}">${file}</h2>
          <p class="index">${joined(links, ' ')}</p>`;
      });
      return html`<p class="lead">The shapes of requests and responses, as JSON Schema.</p>
        ${lists}`;
    },
    page(file) {
      const own = findUsedShapes().get(file) ?? [];
      return own.length === 0 ? html`<p>No operation uses a shape of this file.</p>` : html`${own.map(entry)}`;
    },
  };
}

/** The shapes that operations use, by page. */
function namedBy(operations: readonly Operation[]): Map<string, [string, object][]> {
  const { paths } = openapi([{ title: '', about: '', operations: [...operations] }], '');
  const queries = operations.flatMap(({ query }) => (query === undefined ? [] : [reference(query)]));
  return Map.groupBy(Object.entries(schemasIn([paths, queries])), ([name]) => pages().get(name) ?? '');
}

const entry = ([name, schema]: readonly [string, object]): Html =>
  html`<section>
    <h2 id="${name}">${name}</h2>
    ${lines(linked(JSON.stringify(schema, undefined, 2)))}
  </section> `;

/** The text of a schema, with every reference as a link to its shape. */
const linked = (text: string): (string | Html)[] =>
  text.split(/#\/components\/schemas\/(\w+)/).map((piece, at) => (at % 2 === 0 ? piece : shapeLink(piece)));
