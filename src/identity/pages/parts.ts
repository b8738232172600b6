// Elements that several pages share.
import { html, nothing, type Html } from '#http/pages/html.ts';

/** The error of the last attempt. */
export const problemText = (problem: string | undefined): Html =>
  problem === undefined ? nothing : html`<p class="problem" role="alert" id="problem">${problem}</p>`;

/** A moment, to the minute. */
export function moment(at: Date): Html {
  const exact = at.toISOString();
  return html`<time datetime="${exact}">${exact.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** The field for the name of an account. */
export const usernameField = (username: string | undefined, options: { autofocus: boolean }): Html =>
  html`<label for="username">User name or e-mail address</label>
    <input
      id="username"
      name="username"
      type="text"
      value="${username}"
      autocomplete="username"
      autocapitalize="none"
      autocorrect="off"
      spellcheck="false"
      maxlength="320"
      required
      aria-describedby="problem"
      ${options.autofocus && html`autofocus`}
    />`;

/** The field for the current password. */
export const passwordField: Html = html`<label for="password">Password</label>
  <input id="password" name="password" type="password" autocomplete="current-password" maxlength="1024" required />`;
