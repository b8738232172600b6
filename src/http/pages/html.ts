// HTML templates. A template escapes every inserted text, and inserts other templates as they are. So pages are composed of parts, and no
// stored text becomes markup.
import { html as template, raw } from 'hono/html';

/** The result of a template; no other value counts as markup. */
export interface Html {
  readonly isEscaped: true;
  toString(): string;
}

/** The values that a template accepts. Null, undefined, false and true insert nothing; a list is inserted item by item. */
export type HtmlContent = string | number | boolean | null | undefined | Html | readonly HtmlContent[];

/**
 * A template: html`<p title="${title}">${words}</p>`. Insert values only between tags or inside a quoted attribute, because only the text
 * is escaped; never as the address of a link, unless the address begins with a path of ours.
 */
export const html = (strings: TemplateStringsArray, ...values: readonly HtmlContent[]): Html =>
  template(strings, ...values) as Html;

/** Marks our own markup, such as a guide, as safe; never use it for text from users. */
export const markup = (text: string): Html => raw(text);

/** Empty content. */
export const nothing: Html = html``;

/** Joins parts with the same content between each two. */
export const joined = (parts: readonly HtmlContent[], between: HtmlContent): HtmlContent =>
  parts.map((part, at) => (at === 0 ? part : [between, part]));
