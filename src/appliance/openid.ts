// Builds the client of the OpenID provider, and what logs people in with it.
import { createConfirmations, type Confirmations } from '#identity/openid/confirmations.ts';
import { createOpenidLogins } from '#identity/openid/logins.ts';
import { createOpenidProvider } from '#identity/openid/provider.ts';
import type { OpenidLogins } from '#http/identity-provider.ts';
import type { Current } from './settings.ts';
import type { Storage } from './storage.ts';

export interface OpenidParts {
  logins: OpenidLogins;
  confirmations: Confirmations;
}

export function buildOpenid(
  { store, health, log }: Pick<Storage, 'store' | 'health' | 'log'>,
  current: Current,
): OpenidParts {
  const { records, acts, siteKey, now, newId } = store;
  const settings = () => current().config.identity.oidc;
  const provider = createOpenidProvider({ settings, now });
  health.watch('openid-away', () => {
    const because = provider.failure();
    return because === undefined || settings().issuer === undefined ? undefined : { because };
  });
  const baseUrl = () => current().config.http.base_url;
  const certificateRoles = () => current().config.identity.certificates.require_certificate;
  const parts = { records, acts, siteKey, now, settings, provider };
  const confirmations = createConfirmations(parts);
  const logins = createOpenidLogins({ ...parts, newId, baseUrl, confirmations, certificateRoles, log });
  return { logins, confirmations };
}
