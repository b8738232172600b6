// The content of a refused form, shown again so that it can be sent again.
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { BrowserEvidence } from './browser-access.ts';
import { findFormHandlerSummary } from './form-handlers.ts';
import { field, formOf, longField, hiddenUsernameField } from './parts/form.ts';

/** The fields of a form by name, without its token. */
export type ConsoleFormContent = Readonly<Record<string, string>>;

/** Fields that must be typed again each time; no page contains their values. */
const secrets = new Set(['form-token', 'password', 'new-password', 'again', 'code', 'fingerprint']);

/** Hidden fields that a page sends along. */
const unseen = new Set(['shown', 'to', 'typed']);

/** The content of a form that may be shown again. */
export function readRestorableContent(form: unknown): ConsoleFormContent | undefined {
  if (typeof form !== 'object' || form === null) return undefined;
  const fields = Object.entries(form).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string' && !secrets.has(pair[0]),
  );
  return Object.fromEntries(fields);
}

/** The form with its content, and empty fields for secrets. */
export function renderRestoredForm(
  browsing: BrowserEvidence['browsing'],
  address: string,
  typed: ConsoleFormContent,
  fieldNames: readonly string[],
): Html {
  const again = fieldNames.filter((name) => secrets.has(name) && name !== 'form-token');
  const summary = findFormHandlerSummary(address);
  return html`${summary === undefined ? nothing : html`<p>What this form does: ${summary}</p>`}
  ${formOf(
    browsing,
    address,
    html`${Object.entries(typed).map(([name, value]) => fieldOf(name, value))}
      ${again.length === 0 ? nothing : hiddenUsernameField(browsing)}
      ${again.map((name) => field({ name, label: inWords(name), type: 'password', maxLength: 1024, required: true }))}
      ${Object.keys(typed).length + again.length === 0 ? html`<p>The form has no input.</p>` : nothing}
      <button>Send again</button>`,
  )}`;
}

const fieldOf = (name: string, value: string): Html =>
  unseen.has(name)
    ? html`<input type="hidden" name="${name}" value="${value}" />`
    : value.length > 80 || value.includes('\n')
      ? longField({ name, label: inWords(name), value, maxLength: 65536 })
      : field({ name, label: inWords(name), value, maxLength: 65536 });

const inWords = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`;
