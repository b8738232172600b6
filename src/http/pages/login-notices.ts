// Notices around a login: the banner of the configuration before it, and the account's previous login after it.
import type { Config } from '#configuration/config.ts';
import type { EarlierLogin } from '#records/accounts/last-logins.ts';
import type { StoreRecords } from '#records/index.ts';
import { html, nothing, type Html } from './html.ts';

type SessionsConfig = Config['sessions'];

/** Whether each login must acknowledge the banner. */
export const requiresAcknowledgement = ({ banner, acknowledge_banner: isRequired }: SessionsConfig): boolean =>
  banner !== undefined && isRequired;

/** The banner, to be shown above a login form; the style keeps its line ends. */
export const bannerText = ({ banner }: SessionsConfig): Html =>
  banner === undefined ? nothing : html`<p class="banner">${banner}</p>`;

/** The field of a login form that acknowledges the banner. */
export const bannerField = (sessions: SessionsConfig): Html =>
  requiresAcknowledgement(sessions)
    ? html`<label class="tick"
        ><input type="checkbox" name="acknowledged" value="yes" required /> I have read and accept this notice.</label
      >`
    : nothing;

/** A sentence about the previous login of an account; undefined unless the configuration shows it. */
export async function describeEarlierLogin(
  accountId: string,
  { show_last_login: isShown }: SessionsConfig,
  { lastLogins }: Pick<StoreRecords, 'lastLogins'>,
): Promise<string | undefined> {
  const earlier = isShown ? await lastLogins.earlier(accountId) : undefined;
  return earlier && describeLogin(earlier);
}

function describeLogin({ at, address, failedCount }: EarlierLogin): string {
  const failed = failedCount === 0 ? 'No login failed since.' : `Failed logins since: ${String(failedCount)}.`;
  if (at === null || address === null) return `This is your first login. ${failed.replace('since', 'before')}`;
  return `Your previous login was at ${at.slice(0, 16).replace('T', ' ')} UTC from ${address}. ${failed}`;
}
