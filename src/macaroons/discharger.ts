// The discharger: reads third-party caveats for the identity provider and writes their discharges. It also gives agents
// the macaroon that proves possession of their key.
import { deriveKey, randomBytes } from '#domain/cryptography.ts';
import { after, seconds, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { bakeryMacaroon, bakeryToJson, dischargeFor, withLocalCaveat, type BakeryMacaroon } from './codec/bakery.ts';
import { readBinaryList } from './codec/binary.ts';
import { bytesFromBase64, textFromBytes, valueFromJson } from './codec/encoding.ts';
import { keyText, readKeyText } from './codec/keys.ts';
import { mint, verify, withFirstPartyCaveat, type DecodedMacaroon } from './codec/macaroon.ts';
import { conditionIn } from './codec/namespace.ts';
import { decodePayload, type BakeryVersion, type CaveatPayload } from './codec/payload.ts';
import { readToken, tokenListFromJson, writeToken } from './codec/text.ts';
import { moment } from './caveats.ts';
import type { DischargerKeys } from './discharger-keys.ts';
import { readDischarge } from './login.ts';
import { readPurpose, type LoginPurpose } from './login-purpose.ts';

export { bytesFromBase64 };
export type { BakeryVersion };

/** A macaroon as JSON, in one of the forms of the bakery. */
export type DischargeJson = Record<string, unknown>;

/** A third-party caveat that is addressed to this store. */
export interface AddressedCaveat {
  /** The caveat's identifier, which its discharge repeats. */
  id: Buffer;
  /** The statement that the discharge would confirm. */
  condition: string;
  /** The purpose of the login; only for logins to this store. */
  purpose: LoginPurpose | undefined;
  payload: CaveatPayload;
}

/** An agent that proves, or has proven, that it holds a key; `login` is the id of the login in progress. */
export interface AgentLogin {
  username: string;
  publicKey: string;
  login: string;
}

export interface Discharger {
  /** The current public key, as text. */
  publicKey(): Promise<string>;
  /** Reads a caveat; refuses a malformed one, or a caveat encrypted to another key. */
  read(id: Buffer, payload?: Buffer): Promise<AddressedCaveat>;
  /** Writes the discharge of a caveat in the form of the caveat's version; each condition restricts or declares. */
  discharge(caveat: AddressedCaveat, conditions: string[]): DischargeJson;
  /** Like `discharge`, in binary form as text, for clients that know macaroons but no bakery. */
  plainDischarge(caveat: AddressedCaveat, conditions: string[]): string;
  /**
   * Reads a plain discharge that this store made for a login to itself, of any age: the user name and the time of
   * login. The creator of a caveat can discharge it, too, so discharges of caveats made elsewhere are refused.
   */
  readPlainDischarge(text: string): Promise<{ caveat: AddressedCaveat; username: string; loggedInAt: Date }>;
  /** A macaroon that only the holder of the agent's key can discharge. Valid for a minute. */
  startAgentLogin(agent: AgentLogin, version: BakeryVersion): Promise<DischargeJson>;
  /** Returns the agent that has proven its key, or refuses. `token` has binary macaroons in a row, or a list as JSON. */
  readAgentLogin(token: Buffer): AgentLogin;
}

export interface DischargerOptions {
  keys: DischargerKeys;
  siteKey: Buffer;
  /** The latest time seen. */
  clock: () => Date;
}

const agentLoginLife = seconds(60);

export function createDischarger({ keys, siteKey, clock }: DischargerOptions): Discharger {
  /** Whether this store made the caveat: only this store has the private half of its keys. */
  const isOurs = async ({ firstPartyKey }: CaveatPayload): Promise<boolean> =>
    (await keys.all()).some(({ publicKey }) => publicKey.equals(firstPartyKey));

  /** Ignores a purpose in a caveat of another party: it stays part of the condition, which the identity provider then does not know. */
  const toAddressedCaveat = async (id: Buffer, payload: CaveatPayload): Promise<AddressedCaveat> => {
    const parsed = (await isOurs(payload)) ? readPurpose(payload.condition) : { ...payload, purpose: undefined };
    return { id, condition: parsed.condition, purpose: parsed.purpose, payload };
  };

  const read: Discharger['read'] = async (id, payload) => {
    let reason = 'malformed';
    for (const pair of await keys.all()) {
      const decoded = decodePayload(payload ?? id, pair);
      if (decoded.decoded) return toAddressedCaveat(id, decoded.payload);
      if (reason === 'malformed') ({ reason } = decoded);
    }
    throw new Refusal('api-error', unreadable[reason] ?? unreadable['malformed']!);
  };

  const made = ({ id, payload }: AddressedCaveat, conditions: string[]): BakeryMacaroon => {
    const discharge = dischargeFor(payload, id);
    const written = conditions.map((condition) => conditionIn(payload.namespace, condition));
    if (!written.every((condition) => condition !== undefined)) {
      throw new Refusal('api-error', 'The namespace of this caveat lacks the standard conditions.');
    }
    return { ...discharge, macaroon: written.reduce(withFirstPartyCaveat, discharge.macaroon) };
  };

  return {
    publicKey: async () => keyText((await keys.current()).publicKey),
    read,
    discharge: (caveat, conditions) => ({ ...bakeryToJson(made(caveat, conditions)) }),
    plainDischarge: (caveat, conditions) => writeToken(made(caveat, conditions).macaroon, 1),

    async readPlainDischarge(text) {
      const macaroon = readToken(text);
      if (macaroon === undefined) throw new Refusal('api-error', 'Invalid macaroon');
      const caveat = await read(macaroon.identifier);
      if (!(await isOurs(caveat.payload))) throw new Refusal('api-error', 'Invalid macaroon');
      const result = verify({ macaroon, rootKey: caveat.payload.rootKey, check: () => ({ met: true }) });
      const statement = result.verified
        ? readDischarge(result.conditions.map(({ condition }) => condition))
        : undefined;
      if (statement?.loggedInAt === undefined) throw new Refusal('api-error', 'Invalid macaroon');
      return { caveat, username: statement.username, loggedInAt: new Date(statement.loggedInAt) };
    },
    ...agentLogins({ keys, siteKey, clock }),
  };
}

/** Lets agents prove that they hold their keys. */
function agentLogins({
  keys,
  siteKey,
  clock,
}: DischargerOptions): Pick<Discharger, 'startAgentLogin' | 'readAgentLogin'> {
  const rootKey = deriveKey(siteKey, 'agent logins');
  return {
    async startAgentLogin(agent, version) {
      const publicKey = readKeyText(agent.publicKey);
      if (publicKey === undefined) throw noSuchAgent();
      const words = Buffer.from(JSON.stringify([agent.username, keyText(publicKey), agent.login])).toString(
        'base64url',
      );
      const identifier = `${agentPrefix}${randomBytes(16).toString('base64url')}:${words}`;
      const until = timestamp(after(clock(), agentLoginLife));
      const macaroon = [`time-before ${until}`, `declared username ${agent.username}`].reduce(
        withFirstPartyCaveat,
        mint(rootKey, identifier, 'identity'),
      );
      const target = bakeryMacaroon(macaroon, version);
      return { ...bakeryToJson(withLocalCaveat(target, { publicKey, version }, await keys.current())) };
    },

    readAgentLogin(token) {
      const [macaroon, ...discharges] = macaroonsIn(token) ?? [];
      const agent = macaroon && agentIn(macaroon.identifier);
      if (macaroon === undefined || agent === undefined) throw noSuchAgent();
      const now = clock().getTime();
      const result = verify({
        macaroon,
        rootKey,
        discharges,
        // The client's library may add an expiry of its own; no other condition is accepted.
        check: (condition) => {
          const time = condition.startsWith('time-before ') ? moment(condition.slice('time-before '.length)) : NaN;
          const met = now < time || condition === `declared username ${agent.username}`;
          return met ? { met } : { met, reason: 'The agent login has expired.' };
        },
      });
      if (!result.verified) throw noSuchAgent();
      return agent;
    },
  };
}

/** A public key in its canonical spelling, for storing and comparing; undefined if the text is not a key. */
export function keyFromText(text: string): string | undefined {
  const key = readKeyText(text);
  return key && keyText(key);
}

/** The error for an unknown name, a wrong key and an expired proof: one text, so that it does not tell which names exist. */
export const noSuchAgent = (): Refusal =>
  new Refusal('permission-required', 'There is no agent of this name with this key, or its login took too long.');

const unreadable: Record<string, string> = {
  malformed: 'This is no caveat that the identity provider can read.',
  'for another key': 'This caveat was encrypted to another key than that of this identity provider.',
  'payload missing': 'The caveat came without its payload, which belongs in caveat64.',
};

const agentPrefix = 'larder:agent:1:';

function agentIn(identifier: Buffer): AgentLogin | undefined {
  const text = identifier.toString('latin1');
  if (!text.startsWith(agentPrefix)) return undefined;
  const bytes = bytesFromBase64(text.split(':').at(-1) ?? '');
  const words = bytes && valueFromJson(textFromBytes(bytes) ?? '');
  if (!Array.isArray(words) || words.length !== 3 || !words.every((word) => typeof word === 'string')) return undefined;
  const [username, publicKey, login] = words as [string, string, string];
  return { username, publicKey, login };
}

/** Reads a macaroon and its discharges in the forms that agents send. */
function macaroonsIn(token: Buffer): DecodedMacaroon[] | undefined {
  if (token[0] !== 0x5b) return readBinaryList(token);
  const text = textFromBytes(token);
  return text === undefined ? undefined : tokenListFromJson(valueFromJson(text));
}
