// The login page of the console: name, password, and the one-time password if the account uses them.
import type { OperationResponse } from '#http/operation.ts';
import { html, nothing } from '#http/pages/html.ts';
import { bannerField, bannerText } from '#http/pages/login-notices.ts';
import { loginButtons } from '#http/pages/login-buttons.ts';
import type { Config } from '#configuration/config.ts';
import { pageOf } from '../page.ts';
import { field } from '../parts/form.ts';
import { unencryptedNotice, notice } from '../parts/notice.ts';
import type { ConsoleFormContent } from '../restored-form.ts';

interface LogInPageContent {
  config: Config;
  /** The target after the login: an address of the console. */
  to: string;
  /** Form content from the target page, restored after the login. */
  typed?: ConsoleFormContent | undefined;
  status?: number;
  /** Why a login is needed, or why the last one failed. */
  says?: string | undefined;
  /** Whether a page of another site sent the browser here; then the browser may have a session although it sent no cookie. */
  fromElsewhere?: boolean;
  username?: string | undefined;
  /** Whether the last login attempt failed. */
  failed?: boolean;
  headers?: Record<string, string>;
}

export function logInPage({
  config,
  to,
  typed,
  status,
  says,
  fromElsewhere = false,
  username,
  failed = false,
  headers = {},
}: LogInPageContent): OperationResponse {
  const { base_url: baseUrl } = config.http;
  const store = new URL(baseUrl).host;
  return pageOf({
    title: failed ? 'Not logged in' : 'Log in',
    store,
    status: status ?? 200,
    headers,
    body: html`<body>
      <header>
        <span class="home"><img src="/favicon.ico" width="28" height="28" alt="" />${store}</span>
      </header>
      <main id="main" class="alone">
        <h1>Log in</h1>
        ${says === undefined ? nothing : notice(failed ? 'warn' : 'note', says)}
        ${fromElsewhere ? html`<p><a href="${to}">Continue</a> if you are already logged in.</p>` : nothing}
        ${typed === undefined ? nothing : notice('note', 'The text that you typed is kept and appears again after you log in.')}
        ${bannerText(config.sessions)}
        <form method="post" action="/console/log-in">
          <input type="hidden" name="to" value="${to}" />
          ${typed === undefined ? nothing : html`<input type="hidden" name="typed" value="${JSON.stringify(typed)}" />`}
          ${field({ name: 'username', label: 'User name or e-mail address', value: username, maxLength: 320, required: true, autocomplete: 'username' })}
          ${field({ name: 'password', label: 'Password', type: 'password', maxLength: 1024, required: true, autocomplete: 'current-password' })}
          ${field({
            name: 'code',
            label: 'One-time password',
            maxLength: 16,
            autocomplete: 'one-time-code',
            hint: 'Six digits or a recovery code, if your account uses one-time passwords; else empty.',
          })}
          ${bannerField(config.sessions)}
          <button>Log in</button>
        </form>
        ${loginButtons(config, { field: 'to', value: to })} ${unencryptedNotice(baseUrl)}
      </main>
      <footer>
        <p>
          This is the package store of this site. It loads nothing from other addresses. <a href="/docs/">Documents</a>
        </p>
      </footer>
    </body>`,
  });
}
