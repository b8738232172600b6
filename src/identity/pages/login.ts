// The content of the two login pages: the request, and the forms for the password and the one-time password.
import type { Config } from '#configuration/config.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import { bannerField, bannerText } from '#http/pages/login-notices.ts';
import { loginButtons } from '#http/pages/login-buttons.ts';
import { moment, passwordField, problemText, usernameField } from './parts.ts';

/** The application that asks for the login, and its request. */
export type LoginPageSubject =
  | { kind: 'purpose'; asker: string; may: string; where: string; until: Date; address: string }
  | { kind: 'site'; site: string }
  | { kind: 'unknown'; address: string };

export interface LoginWords {
  /** The id of the pending login. */
  did: string;
  about: LoginPageSubject;
  username: string | undefined;
  problem: string | undefined;
  config: Pick<Config, 'sessions' | 'identity'>;
}

export const loginContent = ({ did, about, username, problem, config }: LoginWords): Html =>
  html`<h1>Log in</h1>
    ${aboutText(about)} ${problemText(problem)} ${bannerText(config.sessions)}
    <form method="post" action="/identity/login">
      <input type="hidden" name="did" value="${did}" />
      ${usernameField(username, { autofocus: true })} ${passwordField} ${bannerField(config.sessions)}
      <button type="submit">Log in</button>
    </form>
    ${loginButtons(config, { field: 'did', value: did })}
    <p class="hint">Continue only if you started this login yourself just now.</p>`;

/** A login without a known purpose is shown as a warning, because it can be an attack. */
function aboutText(about: LoginPageSubject): Html {
  if (about.kind === 'purpose') return purposeText(about);
  if (about.kind === 'site') {
    return html`<section class="purpose" aria-labelledby="purpose">
      <h2 id="purpose">${about.site} asks you to log in</h2>
      <p>An administrator of this store allows this site. The site learns who you are and may act here as you.</p>
    </section>`;
  }
  return html`<section class="purpose unknown" role="alert" aria-labelledby="purpose">
    <h2 id="purpose">The purpose of this login is not known</h2>
    <p>
      This login was started from ${about.address}. The person who started it learns who you are, and may be able to act
      as you elsewhere. If you did not start it, close this page and log in again from your own application.
    </p>
  </section>`;
}

const purposeText = ({ asker, may, where, until, address }: Extract<LoginPageSubject, { kind: 'purpose' }>): Html =>
  html`<section class="purpose" aria-labelledby="purpose">
    <h2 id="purpose">${asker} asks for a token</h2>
    <dl>
      ${fact('May', may)} ${where === '' ? nothing : fact('Only on', where)} ${fact('Until', moment(until))}
      ${fact('Requested from', address)}
    </dl>
  </section>`;

const fact = (term: string, text: string | Html): Html =>
  html`<div>
    <dt>${term}</dt>
    <dd>${text}</dd>
  </div>`;

export const codeContent = ({ did, username, problem }: Pick<LoginWords, 'did' | 'username' | 'problem'>): Html =>
  html`<h1>One-time password</h1>
    <p>The password was right. Now enter the six digits that your authenticator shows for ${username}.</p>
    ${problemText(problem)}
    <form method="post" action="/identity/login">
      <input type="hidden" name="did" value="${did}" />
      <label for="code">One-time password</label>
      <input
        id="code"
        class="code"
        name="code"
        type="text"
        inputmode="numeric"
        autocomplete="one-time-code"
        pattern="[0-9 ]*"
        maxlength="9"
        required
        autofocus
        aria-describedby="problem"
      />
      <button type="submit">Log in</button>
    </form>`;
