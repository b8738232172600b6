// The built-in documents: static pages made from the operation records and the guides, readable without the internet and without scripts.
import { openapi } from './openapi.ts';
import type { OperationSection } from '#http/operation.ts';
import type { DocumentPage, Documents } from '#http/services.ts';
import type { Html } from '#http/pages/html.ts';
import { styleSheet } from '#http/pages/style-sheet.ts';
import { isEnabled } from '#http/switches.ts';
import { auditWords, errors, firstPage, permissionTable } from './chapters.ts';
import { withContents } from './contents.ts';
import { renderSearchResults } from './search-results.ts';
import { guide, guides, slug, type Guide } from './guides.ts';
import { operationLink, operationsIndex, operationsOf } from './operation-pages.ts';
import { page } from './page.ts';
import { createSearch } from './search.ts';
import { createShapePages } from './shape-pages.ts';

interface DocumentChapter {
  title: string;
  content: () => Html;
}

/** Creates each page at its first request. */
export function createDocuments(sections: readonly OperationSection[], version: string): Documents {
  const operations = sections.flatMap((section) => section.operations);
  const chapters = chaptersOf(sections);
  // Searches find each operation and shape on its own page, not in the lists.
  const lists = ['', 'operations', 'shapes'];
  const search = createSearch(() =>
    [...chapters].flatMap(([name, { title, content }]) =>
      lists.includes(name) ? [] : [{ name, title, content: content() }],
    ),
  );
  // A reload may turn operations on and off; only few combinations occur.
  const document = memoize((off: string) => {
    const enabledSections = sections.map((section) => ({
      ...section,
      operations: section.operations.filter(({ name }) => !off.split(' ').includes(name)),
    }));
    const filled = enabledSections.filter((section) => section.operations.length > 0);
    return Buffer.from(JSON.stringify(openapi(filled, version)));
  });
  return {
    page: memoize((name): DocumentPage | undefined => {
      if (name === 'style.css') return { type: 'text/css; charset=utf-8', text: styleSheet('src/documents/style.css') };
      const chapter = chapters.get(name);
      return chapter && page({ title: chapter.title, version, name, content: withContents(chapter.content()) });
    }),
    search(query) {
      const trimmed = query.trim();
      const title = trimmed === '' ? 'Search' : `Search: ${trimmed}`;
      return page({
        title,
        version,
        name: 'search',
        content: renderSearchResults(trimmed, search(trimmed)),
        query: trimmed,
      });
    },
    searchResults: (query) => renderSearchResults(query.trim(), search(query.trim())),
    openapi: (config) =>
      document(
        operations
          .filter((op) => !isEnabled(op, config))
          .map(({ name }) => name)
          .join(' '),
      ),
  };
}

/** All pages by name. Guides come first: of two equal search results the first wins. */
function chaptersOf(sections: readonly OperationSection[]): Map<string, DocumentChapter> {
  const shapes = createShapePages(sections.flatMap((section) => section.operations));
  const operationLinks = new Map(
    sections.flatMap((section) => section.operations.map((op) => [op.name, operationLink(section, op)] as const)),
  );
  return new Map<string, DocumentChapter>([
    ['', { title: 'Documents', content: firstPage }],
    ...Object.entries(guides).map(([name, title]): [string, DocumentChapter] => [
      name,
      { title, content: () => guide(name as Guide, operationLinks) },
    ]),
    ['operations', { title: 'Operations', content: () => operationsIndex(sections) }],
    ...sections.map((section): [string, DocumentChapter] => [
      `operations-${slug(section.title)}`,
      { title: section.title, content: () => operationsOf(section) },
    ]),
    ['permissions', { title: 'Permissions', content: () => permissionTable(sections) }],
    ['errors', { title: 'Errors', content: errors }],
    ['audit', { title: 'Audit log', content: auditWords }],
    ['shapes', { title: 'Shapes', content: () => shapes.index() }],
    ...shapes.files.map((file): [string, DocumentChapter] => [
      `shapes-${file}`,
      { title: `Shapes: ${file}`, content: () => shapes.page(file) },
    ]),
  ]);
}

/** Caches the result of `make` per text; does not cache undefined. */
function memoize<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>();
  return (text) => {
    const result = made.get(text) ?? make(text);
    if (result !== undefined) made.set(text, result);
    return result;
  };
}
