// The discharger: reads what a third-party caveat asks of the identity provider, and answers it with a discharge.
// It also hands agents the macaroon with which they prove that they hold their key.
import { hkdfSync, randomBytes } from 'node:crypto';

import { after, seconds, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { bakeryMacaroon, bakeryToJson, dischargeFor, withLocalCaveat, type BakeryMacaroon } from './codec/bakery.ts';
import { readBinaryList } from './codec/binary.ts';
import { bytesFromBase64, textFromBytes, valueFromJson } from './codec/encoding.ts';
import { keyText, readKeyText } from './codec/keys.ts';
import { mint, verify, withFirstPartyCaveat, type Macaroon } from './codec/macaroon.ts';
import { conditionIn } from './codec/namespace.ts';
import { decodePayload, type BakeryVersion, type CaveatPayload } from './codec/payload.ts';
import { readToken, tokenListFromJson, writeToken } from './codec/text.ts';
import { moment } from './caveats.ts';
import type { DischargerKeys } from './discharger-keys.ts';
import { readDischarge } from './login.ts';
import { readPurpose, type Purpose } from './purpose.ts';

export { bytesFromBase64 };
export type { BakeryVersion };

/** A macaroon as JSON, in one of the forms of the bakery. */
export type BakeryJson = Record<string, unknown>;

/** A third-party caveat that was meant for us. */
export interface AskedCaveat {
  /** The caveat's identifier, which names its discharge. */
  id: Buffer;
  /** What somebody wants us to say is so. */
  condition: string;
  /** What the login is for; known of logins to this store alone. */
  purpose: Purpose | undefined;
  payload: CaveatPayload;
}

/** An agent that proves, or has proven, that it holds a key; `login` is the login it does that for. */
export interface AgentLogin {
  username: string;
  publicKey: string;
  login: string;
}

export interface Discharger {
  /** The public key in use, as text. */
  publicKey(): Promise<string>;
  /** Reads a caveat; refuses one that is malformed or was encrypted to another key. */
  read(id: Buffer, payload?: Buffer): Promise<AskedCaveat>;
  /** The discharge of a caveat in the form that its version asks for; each condition narrows or declares. */
  discharge(asked: AskedCaveat, conditions: string[]): BakeryJson;
  /** The same for clients that know macaroons but no bakery: binary, as text. */
  plainDischarge(asked: AskedCaveat, conditions: string[]): string;
  /**
   * Whose plain discharge this is and when he logged in, when we made it for a login to this store; whatever its age.
   * Whoever makes a caveat can discharge it himself, so of those made elsewhere nothing is believed.
   */
  readPlainDischarge(text: string): Promise<{ asked: AskedCaveat; username: string; loggedInAt: Date }>;
  /** A macaroon that only the holder of the agent's key can discharge. Good for a minute. */
  startAgentLogin(agent: AgentLogin, version: BakeryVersion): Promise<BakeryJson>;
  /** The agent that has proven its key, or a refusal. `token` is what it sends: binary macaroons in a row, or a list as JSON. */
  readAgentLogin(token: Buffer): AgentLogin;
}

export interface DischargerOptions {
  keys: DischargerKeys;
  siteKey: Buffer;
  /** The latest time that was seen. */
  clock: () => Date;
}

const agentLoginLife = seconds(60);

export function createDischarger({ keys, siteKey, clock }: DischargerOptions): Discharger {
  /** Whether it was this store that made a caveat: nobody else has the private half of a key of ours. */
  const isOurs = async ({ firstPartyKey }: CaveatPayload): Promise<boolean> =>
    (await keys.all()).some(({ publicKey }) => publicKey.equals(firstPartyKey));

  /** What somebody else says that a login is for is no purpose, but part of a condition that nobody understands. */
  const asked = async (id: Buffer, payload: CaveatPayload): Promise<AskedCaveat> => {
    const said = (await isOurs(payload)) ? readPurpose(payload.condition) : { ...payload, purpose: undefined };
    return { id, condition: said.condition, purpose: said.purpose, payload };
  };

  const read: Discharger['read'] = async (id, payload) => {
    let reason = 'malformed';
    for (const pair of await keys.all()) {
      const decoded = decodePayload(payload ?? id, pair);
      if (decoded.decoded) return asked(id, decoded.payload);
      if (reason === 'malformed') ({ reason } = decoded);
    }
    throw new Refusal('api-error', unreadable[reason] ?? unreadable['malformed']!);
  };

  const made = ({ id, payload }: AskedCaveat, conditions: string[]): BakeryMacaroon => {
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
    discharge: (asked, conditions) => ({ ...bakeryToJson(made(asked, conditions)) }),
    plainDischarge: (asked, conditions) => writeToken(made(asked, conditions).macaroon, 1),

    async readPlainDischarge(text) {
      const macaroon = readToken(text);
      if (macaroon === undefined) throw new Refusal('api-error', 'Invalid macaroon');
      const asked = await read(macaroon.identifier);
      if (!(await isOurs(asked.payload))) throw new Refusal('api-error', 'Invalid macaroon');
      const result = verify({ macaroon, rootKey: asked.payload.rootKey, check: () => ({ met: true }) });
      const said = result.verified ? readDischarge(result.conditions.map(({ condition }) => condition)) : undefined;
      if (said?.loggedInAt === undefined) throw new Refusal('api-error', 'Invalid macaroon');
      return { asked, username: said.username, loggedInAt: new Date(said.loggedInAt) };
    },
    ...agentLogins({ keys, siteKey, clock }),
  };
}

/** How agents prove that they hold their keys. */
function agentLogins({
  keys,
  siteKey,
  clock,
}: DischargerOptions): Pick<Discharger, 'startAgentLogin' | 'readAgentLogin'> {
  const rootKey = Buffer.from(hkdfSync('sha256', siteKey, '', 'agent logins', 32));
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
        // The client's library may add a time of its own; nothing else is understood.
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

/** A public key in the one spelling in which keys are kept and compared; undefined when the text is none. */
export function keyFromText(text: string): string | undefined {
  const key = readKeyText(text);
  return key && keyText(key);
}

/** One answer to an unknown name, a wrong key and a stale proof. */
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

/** A macaroon and its discharges as agents send them. */
function macaroonsIn(token: Buffer): Macaroon[] | undefined {
  if (token[0] !== 0x5b) return readBinaryList(token);
  const text = textFromBytes(token);
  return text === undefined ? undefined : tokenListFromJson(valueFromJson(text));
}
