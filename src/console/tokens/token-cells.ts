// The table cells of tokens and console sessions: purpose, permissions, end, last use.
import { html, nothing, type HtmlContent } from '#http/pages/html.ts';
import { inCommon, shownChannels } from '#domain/tokens/principal.ts';
import { expiryWarningMs } from '#domain/tokens/token-expiry.ts';
import { storedRestrictions } from '#macaroons/caveats.ts';
import type { OwnedMacaroon } from '#records/tokens/macaroons.ts';
import { badge } from '../parts/notice.ts';
import type { Column } from '../parts/table.ts';
import { distance, time } from '../parts/values.ts';
import { accountAddress } from '../accounts/address.ts';

/** The context of the page. */
interface TokenCellContext {
  /** The latest time that the store has seen. */
  now: Date;
  /** The address of the confirmation page that ends the token. */
  ending(token: OwnedMacaroon): string;
  /** The session of this page, marked in the table. */
  ownSession: string;
}

export const tokenColumns = ({
  now,
  ending,
  ownSession,
}: TokenCellContext): Record<
  'purpose' | 'whose' | 'may' | 'since' | 'until' | 'used' | 'end',
  Column<OwnedMacaroon>
> => ({
  purpose: {
    heading: 'What for',
    cell: (token) =>
      html`${describePurpose(token)} ${token.sessionId === ownSession ? badge('note', 'this login') : nothing}`,
  },
  whose: {
    heading: 'Whose',
    sort: { key: 'whose' },
    cell: ({ accountId, username }) => html`<a href="${accountAddress(accountId)}">${username}</a>`,
  },
  may: { heading: 'May', cell: describePermissions },
  since: { heading: 'Since', sort: { key: 'since', largestFirst: true }, cell: ({ validSince }) => time(validSince) },
  until: { heading: 'Until', sort: { key: 'until' }, cell: (token) => untilCell(token, now) },
  used: {
    heading: 'Last used',
    sort: { key: 'used', largestFirst: true },
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : time(lastUsedAt)),
  },
  end: {
    heading: 'End',
    cell: (token) =>
      isValid(token, now)
        ? html`<a href="${ending(token)}"
            >End it now<span class="unseen">: ${describePurpose(token)} of ${token.username}</span></a
          >`
        : nothing,
  },
});

/** The description that the owner gave; a console session has a fixed one. */
export const describePurpose = ({
  kind,
  description,
  sessionId,
}: Pick<OwnedMacaroon, 'kind' | 'description' | 'sessionId'>): string => {
  if (kind === 'console') return 'Login to the console';
  return description === null || description === '' ? `Session ${sessionId.slice(0, 8)}` : description;
};

const isValid = ({ revokedAt, validUntil }: OwnedMacaroon, now: Date): boolean =>
  revokedAt === null && Date.parse(validUntil) > now.getTime();

/** The permissions of a token, and its limits if it is attenuated. */
export function describePermissions(token: OwnedMacaroon): HtmlContent {
  const allowed = storedRestrictions(token);
  if (allowed === undefined) {
    return token.kind === 'console'
      ? 'All permissions of the account, in the console'
      : 'Not known: issued by an earlier release';
  }
  const { permissions } = allowed;
  const [channels, packages] = [shownChannels(allowed), inCommon(allowed.packages)];
  return html`${permissions === null ? 'All permissions of the account' : permissions.length === 0 ? 'Nothing' : permissions.join(', ')}
  ${packages === null ? nothing : html`<br />Packages: ${packages.map(({ type, name, id }) => `${type}:${name ?? id ?? ''}`).join(', ')}`}
  ${channels === null ? nothing : html`<br />Channels: ${channels.join(', ')}`}`;
}

function untilCell(token: OwnedMacaroon, now: Date): HtmlContent {
  const { revokedAt, validUntil } = token;
  if (revokedAt !== null) return html`${badge('warn', 'ended')} ${time(revokedAt)}`;
  const left = Date.parse(validUntil) - now.getTime();
  if (left <= 0) return html`${badge('warn', 'run out')} ${time(validUntil)}`;
  const isSoon = left <= expiryWarningMs && Date.parse(validUntil) - Date.parse(token.validSince) > expiryWarningMs;
  return html`${time(validUntil)} ${isSoon ? badge('note', distance(validUntil, now)) : nothing}`;
}
