// Links with which somebody sets his own password, once: how one is made. What of it is kept is a digest.
import { randomBytes } from 'node:crypto';

import { after, hours, timestamp, type Now } from '#domain/clock.ts';
import { setUpDigest } from './logins.ts';

/** Where links lead. Their secret is part of the path, which unlike a query is kept in no log of this store. */
export const setUpAddress = '/identity/set-up';

export interface NewSetUpLink {
  link: string;
  digest: string;
  /** RFC 3339. */
  until: string;
}

/** So many hours a link is good unless somebody says otherwise: over a weekend. */
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
