// Creates set-up links. An account sets its password once with such a link; only a digest of the link's secret is stored.
import { randomBytes } from '#domain/cryptography.ts';
import { after, hours, timestamp, type Now } from '#domain/clock.ts';
import { setUpDigest } from '../login/logins.ts';

/** The path of the links. The secret is a path segment and not a query parameter: secrets in paths stay out of the logs. */
export const setUpAddress = '/identity/set-up';

export interface NewSetUpLink {
  link: string;
  digest: string;
  /** RFC 3339. */
  until: string;
}

/** The default validity in hours: long enough for a weekend. */
export const usualHours = 72;

export function newSetUpLink({
  now,
  baseUrl,
  life = usualHours,
}: {
  now: Now;
  baseUrl: string;
  life?: number;
}): NewSetUpLink {
  const key = randomBytes(32).toString('base64url');
  return {
    link: `${baseUrl}${setUpAddress}/${key}`,
    digest: setUpDigest(key),
    until: timestamp(after(now(), hours(life))),
  };
}
