// The content of the invite page, with the form to accept or decline.
import type { Config } from '#configuration/config.ts';
import { html, type Html } from '#http/pages/html.ts';
import { bannerField, bannerText } from '#http/pages/login-notices.ts';
import { moment, passwordField, problemText, usernameField } from './parts.ts';

export interface InviteWords {
  /** The display name of the inviter with the user name. */
  inviter: string;
  /** The package, as `namespace/name`. */
  package: string;
  /** The user name of the invited account, and the address that the invite was sent to. */
  invited: string;
  email: string;
  until: Date;
  /** The user name that the form is filled in with: the last input, or the invited account. */
  username: string;
  problem: string | undefined;
  sessions: Config['sessions'];
}

export const inviteContent = (words: InviteWords): Html =>
  html`<h1>An invite to collaborate</h1>
    <section class="purpose" aria-labelledby="purpose">
      <h2 id="purpose">${words.inviter} asks you to work on ${words.package}</h2>
      <dl>
        <div>
          <dt>Invited</dt>
          <dd>${words.invited}, by ${words.email}</dd>
        </div>
        <div>
          <dt>Until</dt>
          <dd>${moment(words.until)}</dd>
        </div>
      </dl>
    </section>
    ${problemText(words.problem)} ${bannerText(words.sessions)}
    <form method="post" action="/identity/invite">
      ${usernameField(words.username, { autofocus: false })} ${passwordField}
      <label for="code">One-time password, if your account asks for one</label>
      <input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="32" />
      ${bannerField(words.sessions)}
      <button type="submit" name="answer" value="accept">Accept</button>
      <button type="submit" name="answer" value="reject">Decline</button>
    </form>
    <p class="hint">
      A collaborator has the rights of the publisher on the package, but cannot invite others or unregister it.
    </p>`;
