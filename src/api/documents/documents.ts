// The documents inside: static pages written from the operation records and the guides, readable without the internet and
// without a script.
import { embeddedText } from '#src/embedded.ts';
import { openapi } from '../openapi.ts';
import type { Section } from '../operation.ts';
import { markup, type Html } from '../pages/html.ts';
import { styleSheet } from '../pages/style-sheet.ts';
import { isOn } from '../switches.ts';
import { auditWords, errors, first, permissionTable } from './chapters.ts';
import { operationsIndex, operationsOf } from './operations.ts';
import { guides, page, slug, type Documents, type Page } from './page.ts';
import { shapeFiles, shapesIndex, shapesOf } from './shapes.ts';

/** Written when first asked for. */
export function createDocuments(sections: readonly Section[], version: string): Documents {
  const operations = sections.flatMap((section) => section.operations);
  const titled = (name: string, title: string, content: () => Html): [string, () => Page] => [
    name,
    () => page(title, version, name, content()),
  ];
  const write = new Map<string, () => Page>([
    titled('', 'Documents', first),
    titled('operations', 'Operations', () => operationsIndex(sections)),
    ...sections.map((section) =>
      titled(`operations-${slug(section.title)}`, section.title, () => operationsOf(section)),
    ),
    titled('shapes', 'Shapes', () => shapesIndex(operations)),
    ...shapeFiles().map((file) => titled(`shapes-${file}`, `Shapes: ${file}`, () => shapesOf(file, operations))),
    titled('permissions', 'Permissions', () => permissionTable(sections)),
    titled('errors', 'Errors', errors),
    titled('audit', 'Audit log', auditWords),
    ...Object.entries(guides).map(([name, title]) => titled(name, title, () => guide(name))),
    ['style.css', () => ({ type: 'text/css; charset=utf-8', text: styleSheet('src/api/documents/style.css') })],
  ]);
  const pages = remembered((name: string) => write.get(name)?.());
  // A reload may turn operations on and off; there are few ways in which they stand.
  const document = remembered((off: string) => {
    const there = sections.map((section) => ({
      ...section,
      operations: section.operations.filter(({ name }) => !off.split(' ').includes(name)),
    }));
    const filled = there.filter((section) => section.operations.length > 0);
    return Buffer.from(JSON.stringify(openapi(filled, version)));
  });
  return {
    page: pages,
    openapi: (config) =>
      document(
        operations
          .filter((op) => !isOn(op, config))
          .map(({ name }) => name)
          .join(' '),
      ),
  };
}

/** A guide; what scrolls sideways in it can be reached with the keyboard. */
const guide = (name: string): Html =>
  markup(embeddedText(`src/api/documents/guides/${name}.html`).replaceAll('<pre>', '<pre tabindex="0">'));

/** What was made of a text once is kept; nothing is of a text of which nothing can be made. */
function remembered<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>();
  return (text) => {
    const found = made.get(text) ?? make(text);
    if (found !== undefined) made.set(text, found);
    return found;
  };
}
