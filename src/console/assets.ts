// What the pages load, all of it from here: the style sheet, our own script, and htmx as its package has it.
import { anyone } from '#api/access.ts';
import { Answer, operation } from '#api/operation.ts';
import { styleSheet } from '#api/pages/style-sheet.ts';
import { Refusal } from '#domain/refusal.ts';
import { embeddedText } from '#src/embedded.ts';

const files: Readonly<Record<string, readonly [path: string, type: string]>> = {
  'style.css': ['src/console/style.css', 'text/css'],
  'console.js': ['src/console/console.js', 'text/javascript'],
  'htmx.js': ['node_modules/htmx.org/dist/htmx.min.js', 'text/javascript'],
};

const texts = new Map<string, string>();

export const consoleAsset = operation({
  name: 'console_asset',
  method: 'GET',
  path: '/console/assets/:file',
  since: 0,
  summary: 'Give the style sheet or a script of the console.',
  access: anyone,
  prefixed: false,
  enabledBy: 'http.console',
  query: 'ConsoleAssetQuery',
  produces: ['text/css', 'text/javascript'],
  handle({ params, query }) {
    const file = Object.hasOwn(files, params.file) ? files[params.file] : undefined;
    if (file === undefined) throw new Refusal('resource-not-found', 'There is no such file of the console.');
    const [path, type] = file;
    const body = texts.get(path) ?? (type === 'text/css' ? styleSheet(path) : embeddedText(path));
    texts.set(path, body);
    return new Answer({
      headers: {
        'content-type': `${type}; charset=utf-8`,
        // The pages name the release with it.
        'cache-control': `public, max-age=${query.release === undefined ? '3600' : '31536000, immutable'}`,
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      },
      body,
    });
  },
});
