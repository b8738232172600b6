// How pages are written: a template escapes every text that is put into it, and what is itself a template is put in as it is.
// So pages are made of parts, and no text that somebody stored becomes markup.
import { html as template, raw } from 'hono/html';

/** What a template has made; nothing else is taken for markup. */
export interface Html {
  readonly isEscaped: true;
  toString(): string;
}

/** What may stand in a template. What is absent, false or true leaves nothing; a list is put in one by one. */
export type Content = string | number | boolean | null | undefined | Html | readonly Content[];

/**
 * A template: html`<p title="${title}">${words}</p>`. A value stands between tags or between the quotation marks of an
 * attribute, where escaping its text is enough; never in the address of a link unless the address begins with a path of ours.
 */
export const html = (strings: TemplateStringsArray, ...values: readonly Content[]): Html =>
  template(strings, ...values) as Html;

/** Markup of our own that comes as text, such as a guide's; never anything that somebody has said. */
export const markup = (text: string): Html => raw(text);

/** Nothing. */
export const nothing: Html = html``;

/** One after another, with the same between each two. */
export const joined = (parts: readonly Content[], between: Content): Content =>
  parts.map((part, at) => (at === 0 ? part : [between, part]));
