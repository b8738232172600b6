// The pages of the shapes: what goes in and out, one page for each file of schemas/.
import { openapi } from '../openapi.ts';
import type { Operation } from '../operation.ts';
import { shapes } from '../schema.ts';
import { escape } from './html.ts';
import { reference, schemasIn } from './schemas.ts';

const home = (file: string): string => file.replace('.json', '');

/** The names of the pages, which are those of the files. */
export const shapeFiles = (): string[] => [...new Set(shapes().map(({ file }) => home(file)))];

/** Which page has a shape. */
const pageOf = (shape: string): string => home(shapes().find((one) => one.shape === shape)?.file ?? '');

export const shapeLink = (shape: string): string => `<a href="/docs/shapes-${pageOf(shape)}#${shape}">${shape}</a>`;

/** The shapes that operations name, by the page that has them. */
function named(operations: readonly Operation[]): Map<string, [string, object][]> {
  const { paths } = openapi([{ title: '', about: '', operations: [...operations] }], '');
  const queries = operations.flatMap(({ query }) => (query === undefined ? [] : [reference(query)]));
  return Map.groupBy(Object.entries(schemasIn([paths, queries])), ([name]) => pageOf(name));
}

/** The list of all shapes. */
export function shapesIndex(operations: readonly Operation[]): string {
  const lists = [...named(operations)].map(
    ([file, own]) =>
      `<h2 id="${file}">${file}</h2><p class="index">${own.map(([name]) => shapeLink(name)).join(' ')}</p>`,
  );
  return `<p class="lead">What goes in and out, as JSON Schema.</p>${lists.join('\n')}`;
}

/** The shapes of one file. */
export function shapesOf(file: string, operations: readonly Operation[]): string {
  const own = (named(operations).get(file) ?? []).map(([name, schema]) => {
    const text = escape(JSON.stringify(schema, undefined, 2));
    const linked = text.replace(/#\/components\/schemas\/(\w+)/g, (_, shape: string) => shapeLink(shape));
    return `<section id="${name}"><h2>${name}</h2><pre><code>${linked}</code></pre></section>`;
  });
  return own.length === 0 ? '<p>No operation has a shape of this file.</p>' : own.join('\n');
}
