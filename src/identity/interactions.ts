// Logins under way: begun by a client, finished by a person in a browser, and waited for. All in memory and bounded.
import { createHash, randomBytes } from 'node:crypto';

import type { Interaction, Interactions } from '#api/identity.ts';
import { clientOf } from '#domain/client.ts';
import { minutes, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { AskedCaveat } from '#macaroons/discharger.ts';
import type { Account } from '#records/accounts.ts';

/** How long somebody may take to log in, and a client to fetch what came of it. */
const life = minutes(15);
const redeemable = minutes(10);
/**
 * As many as are under way at most, of one client and in all. Beyond that nobody begins another: one that is open stays
 * open, whatever strangers do.
 */
const atOnce = { ofClient: 200, all: 20_000 };
/** How many tokens and codes wait for being used. */
const kept = 5000;

interface Held extends Interaction {
  halfway: Account | undefined;
  until: number;
  finished: Finished | undefined;
  /** Told when it is finished, or given up. */
  waiting: Set<() => void>;
}

interface Finished {
  account: Account;
  token: string;
}

/** What a token proves: that this account logged in, and, but for those of a redirect, for which caveat. */
interface Proof {
  account: Account;
  caveat: string | undefined;
  until: number;
}

export function createInteractions(now: Now): Interactions {
  const byId = new Map<string, Held>();
  const byWaitId = new Map<string, Held>();
  const byClient = new Map<string, Set<Held>>();
  const proofs = new Map<string, Proof>();
  const codes = new Map<string, { token: string; until: number }>();
  let closed = false;

  const end = (held: Held): void => {
    byId.delete(held.id);
    byWaitId.delete(held.waitId);
    const client = clientOf(held.address);
    const others = byClient.get(client);
    others?.delete(held);
    if (others?.size === 0) byClient.delete(client);
    for (const tell of held.waiting) tell();
  };

  const underWay = (found: Held | undefined): Held => {
    if (found === undefined || found.until <= now().getTime()) throw expired();
    return found;
  };

  /** One login, one person: a page that is sent twice changes nothing any more. */
  const unfinished = (id: string): Held => {
    const held = underWay(byId.get(id));
    if (held.finished !== undefined) throw expired();
    return held;
  };

  /** Until it is finished or given up, or nobody wants to know any more. */
  const toldOf = async (held: Held, signal: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const tell = (): void => {
      resolve(undefined);
    };
    const timer = setTimeout(tell, held.until - now().getTime());
    held.waiting.add(tell);
    signal.addEventListener('abort', tell);
    await promise;
    clearTimeout(timer);
    held.waiting.delete(tell);
    signal.removeEventListener('abort', tell);
  };

  const prove = (account: Account, caveat: AskedCaveat | undefined): string => {
    const token = randomBytes(32).toString('base64url');
    forgetExpired(proofs, now().getTime());
    proofs.set(digestOf(token), {
      account,
      caveat: caveat && caveatKey(caveat),
      until: now().getTime() + redeemable,
    });
    return token;
  };

  return {
    begin({ caveat, redirect, address }) {
      if (closed) throw expired();
      // Expired ones stand in front, because all live equally long.
      for (const old of byId.values()) {
        if (old.until > now().getTime()) break;
        end(old);
      }
      const client = clientOf(address);
      const own = byClient.get(client) ?? new Set<Held>();
      if (own.size >= atOnce.ofClient || byId.size >= atOnce.all) throw tooMany();
      const held: Held = {
        id: newId(),
        waitId: newId(),
        caveat,
        redirect,
        address,
        halfway: undefined,
        until: now().getTime() + life,
        finished: undefined,
        waiting: new Set(),
      };
      byId.set(held.id, held);
      byWaitId.set(held.waitId, held);
      byClient.set(client, own.add(held));
      return held;
    },

    find: unfinished,

    whoFinished(id) {
      const held = byId.get(id);
      return held === undefined || held.until <= now().getTime() ? undefined : held.finished?.account;
    },

    halfway(id, account) {
      unfinished(id).halfway = account;
    },

    finish(id, account) {
      const held = unfinished(id);
      const token = prove(account, held.caveat);
      held.finished = { account, token };
      for (const tell of held.waiting) tell();
      return token;
    },

    async wait(waitId, signal) {
      const held = underWay(byWaitId.get(waitId));
      if (held.finished === undefined) await toldOf(held, signal);
      if (held.finished === undefined || closed) throw expired();
      return { interaction: held, ...held.finished };
    },

    codeFor(token) {
      const code = randomBytes(32).toString('base64url');
      forgetExpired(codes, now().getTime());
      codes.set(digestOf(code), { token, until: now().getTime() + minutes(1) });
      return code;
    },

    tokenFor(code) {
      const found = codes.get(digestOf(code));
      codes.delete(digestOf(code));
      if (found === undefined || found.until <= now().getTime()) throw expired();
      return found.token;
    },

    redeem(token, caveat) {
      const proof = proofs.get(digestOf(token));
      if (proof === undefined || proof.until <= now().getTime()) throw notAProof();
      if (proof.caveat !== undefined && proof.caveat !== caveatKey(caveat)) throw notAProof();
      proofs.delete(digestOf(token));
      return proof.account.id;
    },

    close() {
      closed = true;
      for (const held of byId.values()) for (const tell of held.waiting) tell();
    },
  };
}

/** 64 hexadecimal digits and `ID`, as clients of this protocol know them. */
const newId = (): string => `${randomBytes(32).toString('hex')}ID`;

/** Tokens and codes are known by their digests, so that none can be read out of memory or a log. */
const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

const caveatKey = ({ id, payload }: AskedCaveat): string =>
  createHash('sha256').update(id).update('\0').update(payload.rootKey).digest('base64url');

/** Gives room: what has expired goes, and beyond the bound the oldest. */
function forgetExpired(proofs: Map<string, { until: number }>, moment: number): void {
  for (const [key, { until }] of proofs) {
    if (until > moment && proofs.size < kept) break;
    proofs.delete(key);
  }
}

const expired = (): Refusal => new Refusal('login-expired', 'This login has expired or is finished; begin again.');

const tooMany = (): Refusal =>
  new Refusal('too-many-requests', 'Too many logins are under way; finish one of them, or try again in a minute.', 60);

const notAProof = (): Refusal =>
  new Refusal(
    'permission-required',
    'This token does not prove a login for this caveat, or has been used; log in again.',
  );
