// Tokens that prove a login, and the codes that browsers carry back to a web application in place of a token. Both are valid for a
// short time and once, across all processes.
import { createDigest, randomBytes } from '#domain/cryptography.ts';
import type { ProvenLogin } from '#http/identity-provider.ts';
import { after, minutes, timestamp, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { AddressedCaveat } from '#macaroons/discharger.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import type { EphemeralRecords, StoreRecords } from '#records/index.ts';

export interface LoginProofs {
  /** A new token. */
  make(): string;
  /** Stores a token as the proof of a login. It answers only the given caveat, or any caveat if none is given. */
  keep(
    tx: EphemeralRecords,
    token: string,
    proves: ProvenLogin & { caveat: AddressedCaveat | undefined },
  ): Promise<void>;
  /** Uses up a token. Returns the login that it proves; refuses a used or expired token, and one for another caveat. */
  redeem(token: string, caveat: AddressedCaveat): Promise<ProvenLogin>;
  /** Makes a code that a browser can carry in an address instead of the token. It is valid once, for one minute. */
  codeFor(token: string): Promise<string>;
  /** Exchanges a code for its token. Refuses a used or expired code. */
  tokenFor(code: string): Promise<string>;
}

export interface LoginProofsOptions {
  records: Pick<StoreRecords, 'pendingLogins' | 'ephemeral'>;
  siteKey: Buffer;
  now: Now;
  /** Maximum number of unused tokens and of unused codes; for tests. */
  maxProofs?: number | undefined;
}

/** How long a client can take to fetch the result of a login. */
const redeemable = minutes(10);
const codeLife = minutes(1);

export function createLoginProofs({ records, siteKey, now, maxProofs = 5000 }: LoginProofsOptions): LoginProofs {
  const at = (): string => timestamp(now());
  const formatEnd = (life: number): string => timestamp(after(now(), life));

  return {
    make: newSecret,

    async keep(tx, token, { accountId, caveat, provenBy }) {
      await tx.pendingLogins.addProof({
        digest: digestOf(token),
        accountId,
        caveat: caveat === undefined ? null : caveatDigest(caveat),
        provenBy,
        endsAt: formatEnd(redeemable),
      });
      await tx.pendingLogins.boundProofs(maxProofs);
    },

    async redeem(token, caveat) {
      const proof = await records.pendingLogins.proof(digestOf(token), at());
      if (proof === undefined) throw notAProof();
      if (proof.caveat !== null && proof.caveat !== caveatDigest(caveat)) throw notAProof();
      if (!(await records.ephemeral((tx) => tx.pendingLogins.useProof(proof.digest)))) throw notAProof();
      return { accountId: proof.accountId, provenBy: proof.provenBy };
    },

    async codeFor(token) {
      const code = newSecret();
      const digest = digestOf(code);
      const sealed = seal(siteKey, Buffer.from(token), sealedFor(digest));
      await records.ephemeral(async (tx) => {
        await tx.pendingLogins.addCode(digest, sealed, formatEnd(codeLife));
        await tx.pendingLogins.boundCodes(maxProofs);
      });
      return code;
    },

    async tokenFor(code) {
      const digest = digestOf(code);
      const sealed = await records.pendingLogins.code(digest, at());
      if (sealed === undefined) throw loginExpired();
      if (!(await records.ephemeral((tx) => tx.pendingLogins.useCode(digest)))) throw loginExpired();
      return unseal(siteKey, sealed, sealedFor(digest)).toString();
    },
  };
}

/** Tokens and codes are stored as digests, so that records and logs reveal none. */
export const digestOf = (secret: string): string => createDigest('secret').update(secret).digest('base64url');

const newSecret = (): string => randomBytes(32).toString('base64url');

const sealedFor = (digest: string): string => `token of the code ${digest}`;

const caveatDigest = ({ id, payload }: AddressedCaveat): string =>
  createDigest('secret').update(id).update('\0').update(payload.rootKey).digest('base64url');

export const loginExpired = (): Refusal =>
  new Refusal('login-expired', 'This login has expired or is finished. Start again.');

const notAProof = (): Refusal =>
  new Refusal(
    'permission-required',
    'This token does not prove a login for this caveat, or it has been used. Log in again.',
  );
