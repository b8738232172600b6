// The form to choose a password.
import { html, type Html } from '#http/pages/html.ts';
import { problemText } from './parts.ts';

export interface SetUpPage {
  /** The key of the link. */
  key: string;
  username: string;
  /** The minimum number of characters of the password. */
  shortest: number;
  problem: string | undefined;
  /** Whether the account has tokens that stay valid with the new password. */
  hasTokens: boolean;
}

export const setUpContent = ({ key, username, shortest, problem, hasTokens }: SetUpPage): Html =>
  html`<h1>Choose a password</h1>
    <p>
      For the account <strong>${username}</strong>. At least ${shortest} characters; 15 or more are better, such as four
      words that have nothing to do with one another.
    </p>
    ${problemText(problem)}
    <form method="post" action="/identity/set-up">
      <input type="hidden" name="key" value="${key}" />
      <input
        class="aside"
        name="username"
        type="text"
        value="${username}"
        autocomplete="username"
        readonly
        tabindex="-1"
        aria-hidden="true"
      />
      <label for="password">Password</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="new-password"
        minlength="${shortest}"
        maxlength="1024"
        required
        autofocus
        aria-describedby="problem"
      />
      <label for="again">Repeat the password</label>
      <input id="again" name="again" type="password" autocomplete="new-password" maxlength="1024" required />
      ${hasTokens && endTokens}
      <button type="submit">Set the password</button>
    </form>`;

const endTokens: Html = html`<p>The tokens of your tools stay valid after you change the password.</p>
  <label class="choice">
    <input type="checkbox" name="end-tokens" value="yes" />
    Revoke all tokens now. Select this if another person may have a token or know the old password. Your tools must then
    log in again.
  </label>`;

/** Confirms that a password is set. The page names no account, because it is public. */
export const passwordSetContent = ({ hasConsole }: { hasConsole: boolean }): Html =>
  html`<h1>The password is set</h1>
    <p>From now on, log in with this password.</p>
    ${hasConsole && html`<p><a href="/console">Log in to the console</a></p>`}`;
