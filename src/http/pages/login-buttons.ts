// The buttons of login pages for other ways to log in than a password: the OpenID provider of the site, and a client certificate.
import { providerName, type Config } from '#configuration/config.ts';
import { html, nothing, type Html } from './html.ts';
import { bannerField } from './login-notices.ts';

type LoginButtonTarget = { field: 'did' | 'to' | 'again'; value: string };

/** A form for each way that the configuration offers. A session proves itself again at the provider only. */
export function loginButtons(config: Pick<Config, 'identity' | 'sessions'>, target: LoginButtonTarget): Html {
  const name = providerName(config);
  const isAgain = target.field === 'again';
  const hasCertificates = config.identity.certificates.listen !== undefined && !isAgain;
  const methods = [
    ...(hasCertificates ? [['certificates', 'a certificate'] as const] : []),
    ...(name === undefined ? [] : [['openid', name] as const]),
  ];
  return html`${methods.map(
    ([way, label]) =>
      html`<form
        method="post"
        action="/identity/${way}/login"
        ${isAgain ? html`target="_blank" hx-boost="false"` : nothing}
      >
        <input type="hidden" name="${target.field}" value="${target.value}" />
        ${isAgain ? nothing : bannerField(config.sessions)}
        <button type="submit">Log in with ${label}</button>
      </form>`,
  )}`;
}
