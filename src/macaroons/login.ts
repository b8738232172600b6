// Logins: macaroons that become tokens once the identity provider has said, in a discharge, who logged in.
import { moment, readTerms, type Terms, type Version } from './caveats.ts';
import { bakeryMacaroon, withBakeryCaveat } from './codec/bakery.ts';
import { toJson2 } from './codec/json.ts';
import type { KeyPair } from './codec/keys.ts';
import { mint, verify, withFirstPartyCaveat, type Macaroon } from './codec/macaroon.ts';
import { writeToken } from './codec/text.ts';
import { readIdentifier, writeIdentifier } from './identifier.ts';
import { withPurpose, type ToTell } from './purpose.ts';
import type { RootKey } from './root-keys.ts';

/**
 * How a login is written: `bakery` is JSON with a binary caveat to a discharger by its URL;
 * `sso` is the binary form with a caveat of plain text to a host.
 */
export type LoginStyle = 'bakery' | 'sso';

export interface NewLogin {
  style: LoginStyle;
  root: RootKey;
  discharger: KeyPair;
  /** The store's base URL. */
  location: string;
  description: string | null;
  caveats: string[];
  /** What the identity provider shows to whoever logs in. */
  purpose: ToTell;
}

/** What the identity provider is asked to say: who the bearer is. */
const condition = 'is-authenticated-user';

/** A new login: its text. */
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

/** A login whose discharge holds. */
export interface Login {
  terms: Terms;
  /** Which the token that it is exchanged for has too, so that it says the same. */
  version: Version;
  rootKeyId: string;
  description: string | null;
  /** The first-party caveats, as they are copied to the token that it is exchanged for. */
  caveats: string[];
  /** Whether the caveats above are all that narrows it; a token could not carry a caveat to somebody else's third party. */
  exchangeable: boolean;
  discharge: Discharge;
}

/** What the identity provider said; times in milliseconds since the epoch. */
export interface Discharge {
  username: string;
  since: number;
  until: number;
  /** When the person entered the password, in discharges that may be renewed without it. */
  loggedInAt: number | undefined;
}

/** Proves a login with its discharges, whatever the time is; undefined when anything about it does not hold. */
export function readLogin(macaroon: Macaroon, root: RootKey, discharges: readonly Macaroon[]): Login | undefined {
  const thirdParty = macaroon.caveats.find(({ verificationId }) => verificationId !== undefined);
  const identity = readIdentifier(macaroon.identifier);
  if (thirdParty === undefined || identity?.kind !== 'login') return undefined;
  const result = verify({
    macaroon,
    rootKey: root.key,
    discharges,
    // The conditions are read as a whole below, where one that is unknown fails the login. Of further third parties,
    // whose caveats the bearer added himself, no word is taken: their discharges may hold no condition at all.
    check: (_condition, from) =>
      from === 'primary' || from.equals(thirdParty.identifier)
        ? { met: true }
        : { met: false, reason: 'unknown caveat' },
  });
  if (!result.verified) return undefined;
  const caveats = result.conditions.filter(({ from }) => from === 'primary').map((one) => one.condition);
  const terms = readTerms(caveats, identity.version);
  const discharge = readDischarge(
    result.conditions.filter(({ from }) => from !== 'primary').map((one) => one.condition),
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

/**
 * What the conditions of a discharge say together. The bearer may have added some: they narrow, or all is void.
 * A second name beside the first is never believed.
 */
export function readDischarge(conditions: string[]): Discharge | undefined {
  let username: string | undefined;
  let loggedInAt: number | undefined;
  let [since, until] = [-Infinity, Infinity];
  for (const [place, one] of conditions.entries()) {
    const [name, value] = parted(one);
    switch (name) {
      case 'declared': {
        const [key, said] = parted(value);
        if (key !== 'username' || said === '' || (username !== undefined && username !== said)) return undefined;
        username = said;
        break;
      }
      case 'time-before':
        until = Math.min(until, moment(value));
        break;
      case 'time-since':
        since = Math.max(since, moment(value));
        break;
      case 'logged-in':
        // In the first place it is ours; behind that a bearer may have put it, who would like to renew his discharge.
        if (place !== 0) return undefined;
        loggedInAt = moment(value);
        break;
      default:
        return undefined;
    }
  }
  if (username === undefined || until === Infinity) return undefined;
  if (Number.isNaN(since) || Number.isNaN(until) || Number.isNaN(loggedInAt)) return undefined;
  return { username, since, until, loggedInAt };
}

function parted(text: string): [string, string] {
  const space = text.indexOf(' ');
  return space < 0 ? [text, ''] : [text.slice(0, space), text.slice(space + 1)];
}
