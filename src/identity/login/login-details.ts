// Seals the details of a pending login for storage. They are secret, because a caveat contains a key.
import type { Interaction } from '#http/identity-provider.ts';
import type { AddressedCaveat, BakeryVersion } from '#macaroons/discharger.ts';
import type { LoginPurpose } from '#macaroons/login-purpose.ts';
import { seal, unseal } from '#macaroons/sealing.ts';

export type LoginDetails = Pick<Interaction, 'address'> & Partial<Pick<Interaction, 'caveat' | 'redirect'>>;

interface StoredLoginDetails {
  address: string;
  caveat?: StoredCaveat | undefined;
  redirect?: { to: string; state?: string | undefined } | undefined;
}

interface StoredCaveat {
  id: string;
  condition: string;
  purpose?: (Omit<LoginPurpose, 'until'> & { until: number }) | undefined;
  payload: {
    version: BakeryVersion;
    condition: string;
    rootKey: string;
    firstPartyKey: string;
    namespace: [string, string][];
  };
}

export function sealLoginDetails(siteKey: Buffer, id: string, { address, caveat, redirect }: LoginDetails): string {
  const stored: StoredLoginDetails = { address, redirect, caveat: caveat && toStoredCaveat(caveat) };
  return seal(siteKey, Buffer.from(JSON.stringify(stored)), sealedFor(id));
}

export function openLoginDetails(
  siteKey: Buffer,
  id: string,
  sealed: string,
): Pick<Interaction, 'address' | 'caveat' | 'redirect'> {
  const { address, caveat, redirect } = JSON.parse(
    unseal(siteKey, sealed, sealedFor(id)).toString(),
  ) as StoredLoginDetails;
  return {
    address,
    caveat: caveat && fromStoredCaveat(caveat),
    redirect: redirect && { to: redirect.to, state: redirect.state },
  };
}

const toStoredCaveat = ({ id, condition, purpose, payload }: AddressedCaveat): StoredCaveat => ({
  id: id.toString('base64'),
  condition,
  purpose: purpose && { ...purpose, until: purpose.until.getTime() },
  payload: {
    version: payload.version,
    condition: payload.condition,
    rootKey: payload.rootKey.toString('base64'),
    firstPartyKey: payload.firstPartyKey.toString('base64'),
    namespace: [...payload.namespace],
  },
});

const fromStoredCaveat = ({ id, condition, purpose, payload }: StoredCaveat): AddressedCaveat => ({
  id: Buffer.from(id, 'base64'),
  condition,
  purpose: purpose && { ...purpose, until: new Date(purpose.until) },
  payload: {
    version: payload.version,
    condition: payload.condition,
    rootKey: Buffer.from(payload.rootKey, 'base64'),
    firstPartyKey: Buffer.from(payload.firstPartyKey, 'base64'),
    namespace: new Map(payload.namespace),
  },
});

const sealedFor = (id: string): string => `login under way ${id}`;
