// The icons of the console: some of GitHub's Octicons, as one sprite that pages refer to.
import { html, markup, type Html } from '#http/pages/html.ts';
import { embeddedText } from '#platform/embedded.ts';

const iconNames = [
  'alert',
  'arrow-up',
  'arrow-switch',
  'bug',
  'check',
  'check-circle',
  'copy',
  'cpu',
  'database',
  'gear',
  'home',
  'inbox',
  'info',
  'key',
  'law',
  'lock',
  'log',
  'package',
  'paper-airplane',
  'people',
  'person',
  'shield-check',
  'three-bars',
  'verified',
] as const;

export type IconName = (typeof iconNames)[number];

const iconFile = (name: IconName): string => `node_modules/@primer/octicons/build/svg/${name}-16.svg`;

export const iconFiles: readonly string[] = iconNames.map(iconFile);

/** The sprite: each icon as a symbol with its name. */
export const renderIcons = (): string =>
  html`<svg xmlns="http://www.w3.org/2000/svg">${iconNames.map(symbolOf)}</svg>`.toString();

function symbolOf(name: IconName): Html {
  const [, drawing = ''] = /<svg[^>]*>(.*)<\/svg>/s.exec(embeddedText(iconFile(name))) ?? [];
  return html`<symbol id="${name}" viewBox="0 0 16 16">${markup(drawing)}</symbol>`;
}
