// The pages that people see: the files in pages/, filled in.
import { Answer } from '#api/operation.ts';
import { embeddedText } from '#src/embedded.ts';

/** What is filled in; a text that is absent or empty, or false, leaves its section out. */
export type Words = Record<string, string | boolean | undefined>;

export interface PageOptions {
  status?: number;
  /** The store's base URL. */
  baseUrl: string;
  /** An origin to which the page's form may lead in the end, besides our own. */
  leadsTo?: string | undefined;
  headers?: Record<string, string>;
}

export type PageName = 'login' | 'code' | 'set-up' | 'invite' | 'message';

/** A page as an answer. */
export function page(name: PageName, title: string, words: Words, options: PageOptions): Answer {
  const { status = 200, baseUrl, leadsTo, headers } = options;
  const all = { ...words, title, store: new URL(baseUrl).host };
  const content = fill(template(name), all);
  const html = fill(template('layout'), { ...all, content });
  return new Answer({
    status,
    headers: { ...security(leadsTo), 'content-type': 'text/html; charset=utf-8', ...headers },
    body: html,
  });
}

export const styleSheet = (): Answer =>
  new Answer({
    headers: {
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=3600',
      'x-content-type-options': 'nosniff',
    },
    body: embeddedText('src/identity/pages/style.css'),
  });

/** Nothing but our own style sheet, our own mark and our own form; nothing kept, nothing framed, and no word of the address to others. */
const security = (leadsTo: string | undefined): Record<string, string> => ({
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    `form-action 'self'${leadsTo === undefined ? '' : ` ${leadsTo}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Browsers name the origin of a form only where this allows it.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
});

const templates = new Map<string, string>();

function template(name: PageName | 'layout'): string {
  let text = templates.get(name);
  if (text === undefined) {
    text = embeddedText(`src/identity/pages/${name}.html`);
    templates.set(name, text);
  }
  return text;
}

/**
 * `{{name}}` is replaced by its text, made harmless; `{{#name}}…{{/name}}` stays when it has one, `{{^name}}…{{/name}}`
 * when it has none. `{{{content}}}` alone is HTML already.
 */
const fill = (text: string, words: Words): string =>
  sections(text, words).replace(/\{\{(\{?)(\w+)\}\}\}?/g, (_, raw: string, name: string) => {
    const value = String(words[name] ?? '');
    return raw === '' ? escaped(value) : value;
  });

/** Before anything is filled in, so that no text that is has a say in it. */
const sections = (text: string, words: Words): string =>
  text.replace(
    /\{\{([#^])(\w+)\}\}((?:(?!\{\{\/\2\}\}).)*)\{\{\/\2\}\}/gs,
    (_, kind: string, name: string, inner: string) =>
      Boolean(words[name]) === (kind === '#') ? sections(inner, words) : '',
  );

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
