// Logins: macaroons that become tokens after the identity provider has confirmed the account in a discharge.
import { moment, readTerms, type TokenTerms, type Version } from './caveats.ts';
import { bakeryMacaroon, withBakeryCaveat } from './codec/bakery.ts';
import { toJson2 } from './codec/json.ts';
import type { KeyPair } from './codec/keys.ts';
import { mint, verify, withFirstPartyCaveat, type DecodedMacaroon } from './codec/macaroon.ts';
import { writeToken } from './codec/text.ts';
import { readIdentifier, writeIdentifier } from './identifier.ts';
import { withPurpose, type PurposeInput } from './login-purpose.ts';
import type { OpenedRootKey } from './root-keys.ts';

/**
 * The form of a login: `bakery` is JSON with a binary caveat for a discharger given by URL; `sso` is the binary form
 * with a plain text caveat for a host.
 */
export type LoginStyle = 'bakery' | 'sso';

export interface NewLogin {
  style: LoginStyle;
  root: OpenedRootKey;
  discharger: KeyPair;
  /** The store's base URL. */
  location: string;
  description: string | null;
  caveats: string[];
  /** The purpose that the identity provider shows to the person who logs in. */
  purpose: PurposeInput;
}

/** The condition of the third-party caveat: the identity provider must find out which account logs in. */
const condition = 'is-authenticated-user';

/** Writes a new login as text. */
export function writeLogin({ style, root, discharger, location, description, caveats, purpose }: NewLogin): string {
  const identifier = writeIdentifier({ kind: 'login', version: '2', rootKeyId: root.id, description });
  const restricted = caveats.reduce(withFirstPartyCaveat, mint(root.key, identifier, location));
  const version = style === 'bakery' ? 2 : 1;
  const { macaroon } = withBakeryCaveat(bakeryMacaroon(restricted, version), {
    location: style === 'bakery' ? `${location}/identity` : new URL(location).host,
    condition: withPurpose(condition, purpose),
    thirdParty: { publicKey: discharger.publicKey, version },
    firstParty: discharger,
  });
  return style === 'bakery' ? JSON.stringify(toJson2(macaroon)) : writeToken(macaroon, 1);
}

/** A login with a valid discharge. */
export interface DischargedLogin {
  terms: TokenTerms;
  /** The token in exchange has the same version, so that its caveats mean the same. */
  version: Version;
  rootKeyId: string;
  description: string | null;
  /** The first-party caveats, which are copied to the token in exchange. */
  caveats: string[];
  /** Whether it can be exchanged for a token: it has no caveats of other third parties, which a token could not keep. */
  exchangeable: boolean;
  discharge: Discharge;
}

/** The statement of the identity provider; times in milliseconds since the epoch. */
export interface Discharge {
  username: string;
  since: number;
  until: number;
  /** When the person entered the password; only in discharges that may be renewed without it. */
  loggedInAt: number | undefined;
  /** Whether the person logged in with a client certificate. */
  byCertificate: boolean;
}

/** Verifies a login with its discharges, without regard to time; undefined if anything is invalid. */
export function readLogin(
  macaroon: DecodedMacaroon,
  root: OpenedRootKey,
  discharges: readonly DecodedMacaroon[],
): DischargedLogin | undefined {
  const thirdParty = macaroon.caveats.find(({ verificationId }) => verificationId !== undefined);
  const identity = readIdentifier(macaroon.identifier);
  if (thirdParty === undefined || identity?.kind !== 'login') return undefined;
  const result = verify({
    macaroon,
    rootKey: root.key,
    discharges,
    // `readTerms` and `readDischarge` below check the conditions of the login and of the identity provider's discharge.
    // The bearer may have added caveats of further third parties; their discharges must not have any condition.
    check: (_condition, from) =>
      from === 'primary' || from.equals(thirdParty.identifier)
        ? { met: true }
        : { met: false, reason: 'unknown caveat' },
  });
  if (!result.verified) return undefined;
  const caveats = result.conditions.filter(({ from }) => from === 'primary').map((item) => item.condition);
  const terms = readTerms(caveats, identity.version);
  const discharge = readDischarge(
    result.conditions.filter(({ from }) => from !== 'primary').map((item) => item.condition),
  );
  if (terms === undefined || discharge === undefined) return undefined;
  const exchangeable = macaroon.caveats.every((caveat) => caveat === thirdParty || caveat.verificationId === undefined);
  return {
    terms,
    version: identity.version,
    rootKeyId: root.id,
    description: identity.description,
    caveats,
    exchangeable,
    discharge,
  };
}

/** The first condition of a discharge after a login with a client certificate. */
export const certificateCondition = 'logged-in-with certificate';

/**
 * Combines the conditions of a discharge. The bearer may have added some: they restrict, or the discharge is invalid. A
 * second, different name is never accepted.
 */
export function readDischarge(conditions: string[]): Discharge | undefined {
  let username: string | undefined;
  let loggedInAt: number | undefined;
  let byCertificate = false;
  let [since, until] = [-Infinity, Infinity];
  for (const [place, statement] of conditions.entries()) {
    const [name, value] = parted(statement);
    switch (name) {
      case 'declared': {
        const [key, declaredValue] = parted(value);
        if (key !== 'username' || declaredValue === '' || (username !== undefined && username !== declaredValue))
          return undefined;
        username = declaredValue;
        break;
      }
      case 'time-before':
        until = Math.min(until, moment(value));
        break;
      case 'time-since':
        since = Math.max(since, moment(value));
        break;
      case 'logged-in':
        // The first condition is the store's own; a later one may be forged by a bearer to renew the discharge.
        if (place !== 0) return undefined;
        loggedInAt = moment(value);
        break;
      case 'logged-in-with':
        // Likewise the store's own, or forged.
        if (place !== 0 || value !== 'certificate') return undefined;
        byCertificate = true;
        break;
      default:
        return undefined;
    }
  }
  if (username === undefined || until === Infinity) return undefined;
  if (Number.isNaN(since) || Number.isNaN(until) || Number.isNaN(loggedInAt)) return undefined;
  return { username, since, until, loggedInAt, byCertificate };
}

function parted(text: string): [string, string] {
  const space = text.indexOf(' ');
  return space < 0 ? [text, ''] : [text.slice(0, space), text.slice(space + 1)];
}
