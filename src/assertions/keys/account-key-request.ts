// Writes account-key-requests, which ask an online store to register a brand's signing key.
import { Refusal } from '#domain/refusal.ts';
import { isAccountId } from '#domain/ids.ts';
import { encodePublicKey, keyId as idOf } from '../format/openpgp.ts';
import { signAssertion, type Signer } from './signer.ts';
import { writeTime } from '../format/times.ts';
import { isKeyName } from '../format/types.ts';

export interface AccountKeyRequest {
  readonly signer: Signer;
  readonly keyId: string;
  /** The brand's account id in the online store. */
  readonly accountId: string;
  readonly name: string;
  readonly since: Date;
  /** Undefined: the key never expires. */
  readonly until?: Date | undefined;
  /** Above zero to replace an earlier registration. */
  readonly revision?: number | undefined;
  readonly signedAt: Date;
}

/** Returns the text of the request. It is deterministic: the same key and times give the same bytes. */
export async function accountKeyRequest(request: AccountKeyRequest): Promise<string> {
  const { signer, keyId, accountId, name, since, until, revision = 0, signedAt } = request;
  if (!isAccountId(accountId)) {
    throw no('the account id must be 32 letters and digits, or 2 to 28 of lower-case letters, digits and dashes');
  }
  if (!isKeyName(name)) {
    throw no(
      'the name must be lower-case letters, digits and single inner dashes, with at least one letter, and at most 128 characters',
    );
  }
  if (!Number.isSafeInteger(revision) || revision < 0) throw no('the revision must be a whole number from 0 on');
  for (const [time, moment] of Object.entries({ since, until })) {
    if (moment !== undefined && !isWritable(moment)) throw no(`'${time}' must be a time between the years 0 and 9999`);
  }
  if (until !== undefined && until < since) throw no("'until' must not be before 'since'");

  const publicKey = await signer.publicKey(keyId);
  if (idOf(publicKey) !== keyId) throw new Error(`cannot request the key ${keyId}: the signer gave another`);
  return signAssertion(signer, keyId, {
    type: 'account-key-request',
    headers: {
      revision: String(revision),
      'public-key-sha3-384': keyId,
      'account-id': accountId,
      name,
      since: writeTime(since),
      ...(until && { until: writeTime(until) }),
    },
    body: encodePublicKey(publicKey),
    signedAt,
  });
}

const isWritable = (moment: Date): boolean => moment.getUTCFullYear() >= 0 && moment.getUTCFullYear() <= 9999;

const no = (reason: string): Refusal => new Refusal('api-error', `The account-key-request cannot be made: ${reason}.`);
