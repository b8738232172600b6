// Forms: each sends the token of its session, and works without scripts.
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { BrowserEvidence } from '../browser-access.ts';
import { count } from './values.ts';

/** A form to an address of the console. */
export const formOf = (browsing: BrowserEvidence['browsing'], address: string, content: HtmlContent): Html =>
  html`<form method="post" action="${address}">
    <input type="hidden" name="form-token" value="${browsing.formToken(address)}" />
    ${content}
  </form>`;

/** The field of the one file of a form. */
export const fileField = ({ label, accept, hint }: { label: string; accept: string; hint: HtmlContent }): Html =>
  html`<div class="field">
    <label for="file">${label}</label>
    <input id="file" name="file" type="file" accept="${accept}" required aria-describedby="file-hint" />
    <p class="hint" id="file-hint">${hint}</p>
  </div>`;

/** A form that uploads one small file, without a script. */
export const fileForm = (
  browsing: BrowserEvidence['browsing'],
  address: string,
  { label, accept, hint, button }: { label: string; accept: string; hint: HtmlContent; button: string },
): Html =>
  html`<form method="post" action="${address}" enctype="multipart/form-data" hx-boost="false">
    <input type="hidden" name="form-token" value="${browsing.formToken(address)}" />
    ${fileField({ label, accept, hint })}
    <button>${button}</button>
  </form>`;

/**
 * A search form: its fields are in the address, and it changes nothing. The result is loaded into `target` while the reader types, and
 * keeps the requested order.
 */
export const searchOf = (address: string, target: string, content: HtmlContent, sort: string | undefined): Html =>
  html`<form
    class="search"
    role="search"
    method="get"
    action="${address}"
    hx-get="${address}"
    hx-target="#${target}"
    hx-select="#${target}"
    hx-swap="outerHTML"
    hx-push-url="true"
    hx-trigger="input changed delay:250ms from:find input, change, submit"
  >
    ${content} ${sort === undefined ? nothing : html`<input type="hidden" name="sort" value="${sort}" />`}
  </form>`;

export interface Field {
  name: string;
  label: string;
  type?: 'text' | 'password' | 'search' | 'email' | 'number' | 'date';
  value?: string | undefined;
  /** A sentence below the field. */
  hint?: HtmlContent;
  required?: boolean;
  maxLength: number;
  autocomplete?: string;
  /** Selects the keyboard of phones. */
  inputMode?: 'numeric';
}

/** A labelled text field. */
export function field({ name, label, type = 'text', value = '', hint, ...more }: Field): Html {
  const hinted = hint === undefined ? nothing : html`aria-describedby="${name}-hint"`;
  return html`<div class="field">
    <label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      value="${value}"
      maxlength="${more.maxLength}"
      ${more.required === true ? html`required` : nothing}
      autocomplete="${more.autocomplete ?? 'off'}"
      ${more.inputMode === undefined ? nothing : html`inputmode="${more.inputMode}"`}
      autocapitalize="none"
      spellcheck="false"
      ${hinted}
    />
    ${hint === undefined ? nothing : html`<p class="hint" id="${name}-hint">${hint}</p>`}
  </div>`;
}

/** A hidden user name for password managers, which need the account of a password; it is not sent. */
export const hiddenUsernameField = ({ principal }: BrowserEvidence['browsing']): Html =>
  html`<input
    class="unseen"
    type="text"
    value="${principal.username}"
    autocomplete="username"
    readonly
    tabindex="-1"
    aria-hidden="true"
  />`;

/** A labelled field with several lines. */
export const longField = ({ name, label, value = '', hint, required, maxLength }: Field): Html =>
  html`<div class="field">
    <label for="${name}">${label}</label>
    <textarea
      id="${name}"
      name="${name}"
      rows="3"
      maxlength="${maxLength}"
      ${required === true ? html`required` : nothing}
      ${hint === undefined ? nothing : html`aria-describedby="${name}-hint"`}
    >
${value}</textarea>
    ${hint === undefined ? nothing : html`<p class="hint" id="${name}-hint">${hint}</p>`}
  </div>`;

/** A choice between a few values. */
export const choice = (
  { name, label, value }: Pick<Field, 'name' | 'label' | 'value'>,
  options: readonly (readonly [value: string, words: string])[],
): Html =>
  html`<div class="field">
    <label for="${name}">${label}</label>
    <select id="${name}" name="${name}">
      ${options.map(
        ([optionValue, words]) =>
          html`<option value="${optionValue}" ${optionValue === value ? html`selected` : nothing}>${words}</option>`,
      )}
    </select>
  </div>`;

/** A checkbox. */
export const tick = (name: string, words: HtmlContent, ticked = false): Html =>
  html`<label class="tick"
    ><input type="checkbox" name="${name}" value="yes" ${ticked ? html`checked` : nothing} /> ${words}</label
  >`;

/** A radio button; its own fields are shown while it is chosen. */
export const option = (
  { name, value, words, chosen }: { name: string; value: string; words: HtmlContent; chosen: boolean },
  fields: HtmlContent = nothing,
): Html =>
  html`<div class="option">
    <label class="tick"
      ><input type="radio" name="${name}" value="${value}" ${chosen ? html`checked` : nothing} /> ${words}</label
    >
    ${fields === nothing ? nothing : html`<div class="fields">${fields}</div>`}
  </div>`;

/** A percentage as a slider, with the number of devices that it stands for. */
export const slider = ({
  name,
  label,
  value,
  devices,
}: Pick<Field, 'name' | 'label'> & { value: string; devices: number }): Html =>
  html`<div class="field">
    <label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      type="range"
      min="0"
      max="100"
      step="${Number.isInteger(Number(value)) ? '1' : 'any'}"
      value="${value}"
      data-devices="${devices}"
      aria-describedby="${name}-hint"
    />
    <output for="${name}">${value} %</output>
    <p class="hint" id="${name}-hint">
      From 0 to 100 %${devices === 0 ? '' : `; ${count(devices)} ${devices === 1 ? 'device is' : 'devices are'} known`}.
    </p>
  </div>`;
