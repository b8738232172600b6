// The content of a refused form, shown again so that it can be sent again.
import { html, nothing, type Html } from '#api/pages/html.ts';
import type { Browsed } from './access.ts';
import { summaryOfDeed } from './deeds.ts';
import { field, formOf, longField, whosePassword } from './parts/form.ts';

/** The fields of a form by name, without its token. */
export type Typed = Readonly<Record<string, string>>;

/** Fields that must be typed again each time; no page contains their values. */
const secrets = new Set(['form-token', 'password', 'new-password', 'again', 'code', 'fingerprint']);

/** Hidden fields that a page sends along. */
const unseen = new Set(['shown']);

/** The content of a form that may be shown again. */
export function kept(form: unknown): Typed | undefined {
  if (typeof form !== 'object' || form === null) return undefined;
  const fields = Object.entries(form).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string' && !secrets.has(pair[0]),
  );
  return Object.fromEntries(fields);
}

/** The form with its content, and empty fields for secrets. */
export function formAgain(
  browsing: Browsed['browsing'],
  address: string,
  typed: Typed,
  asked: readonly string[],
): Html {
  const again = asked.filter((name) => secrets.has(name) && name !== 'form-token');
  const summary = summaryOfDeed(address);
  return html`${summary === undefined ? nothing : html`<p>What this form does: ${summary}</p>`}
  ${formOf(
    browsing,
    address,
    html`${Object.entries(typed).map(([name, value]) => fieldOf(name, value))}
      ${again.length === 0 ? nothing : whosePassword(browsing)}
      ${again.map((name) => field({ name, label: inWords(name), type: 'password', maxLength: 1024, required: true }))}
      ${Object.keys(typed).length + again.length === 0 ? html`<p>Nothing was typed into it.</p>` : nothing}
      <button>Send it again</button>`,
  )}`;
}

const fieldOf = (name: string, value: string): Html =>
  unseen.has(name)
    ? html`<input type="hidden" name="${name}" value="${value}" />`
    : value.length > 80 || value.includes('\n')
      ? longField({ name, label: inWords(name), value, maxLength: 65536 })
      : field({ name, label: inWords(name), value, maxLength: 65536 });

const inWords = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`;
