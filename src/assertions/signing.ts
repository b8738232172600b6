// Signs the assertions of brands: models, serials, validation sets, system users, and revisions of snaps with a delegated provenance.
import { Refusal } from '#domain/refusal.ts';
import { parseStream, quoted, type Assertion, type Headers } from './format/assertion.ts';
import { checkSignature, delegatesRevision, keyState } from './chain.ts';
import { constraintsAllow } from './format/constraints.ts';
import { HeaderReader } from './format/headers.ts';
import { decodePublicKey } from './format/openpgp.ts';
import { signAssertion, type Signer } from './keys/signer.ts';
import { writeTime } from './format/times.ts';
import { checkAssertion, defaultProvenance, series } from './format/types.ts';

/** The key that a brand signs with. */
export interface BrandKey {
  readonly signer: Signer;
  readonly keyId: string;
  readonly accountId: string;
  /** The account-key from the online store. The brand signs only the assertions that it allows. */
  readonly accountKey: Assertion | undefined;
}

/** `headers` holds the headers that do not follow from the brand and the time: `model`, `architecture`, `snaps` … */
export const signModel = (key: BrandKey, headers: Headers, at: Date): Promise<string> =>
  signAsBrand(key, 'model', { ...headers, series, 'brand-id': key.accountId, timestamp: writeTime(at) }, at);

/** `headers` holds the headers that do not follow from the brand and the time: `name`, `sequence`, `snaps`. */
export const signValidationSet = (key: BrandKey, headers: Headers, at: Date): Promise<string> =>
  signAsBrand(key, 'validation-set', { ...headers, series, 'account-id': key.accountId, timestamp: writeTime(at) }, at);

/** `headers` holds the headers that do not follow from the brand: `email`, `username`, `models`, `since`, `until` … */
export const signSystemUser = (key: BrandKey, headers: Headers, at: Date): Promise<string> =>
  signAsBrand(key, 'system-user', { series: [series], ...headers, 'brand-id': key.accountId }, at);

/** A request for a serial, after the device has proved that it holds its key. */
export interface SerialRequest {
  readonly brandId: string;
  readonly model: string;
  readonly requestId: string;
  /** The serial that the device proposes. */
  readonly serial: string | undefined;
  readonly deviceKey: string;
  readonly deviceKeyId: string;
  /** Further assertions in the request, not verified yet: the former model and serial of a device that changes its model. */
  readonly enclosed: readonly Assertion[];
}

/** Reads a device's request for a serial. Refuses it unless the device's own key signed it. */
export function readSerialRequest(text: string | Uint8Array): SerialRequest {
  const [request, ...enclosed] = parseStream(text);
  if (request?.type !== 'serial-request') {
    throw new Refusal(
      'api-error',
      `A serial-request must come first, and not an assertion of type ${quoted(request?.type ?? '')}.`,
    );
  }
  checkAssertion(request);
  const headers = new HeaderReader('serial-request assertion', request.headers);
  const deviceKey = headers.text('device-key');
  checkSignature(request, decodePublicKey(deviceKey));
  return {
    brandId: headers.text('brand-id'),
    model: headers.text('model'),
    requestId: headers.text('request-id'),
    serial: headers.optionalText('serial'),
    deviceKey,
    deviceKeyId: request.signKeyId,
    enclosed,
  };
}

/**
 * Signs a serial for a device. A key of an account other than the brand is allowed if the brand's model names that account.
 *
 * @param model the model of the device; needed only for an account other than the brand
 */
export async function signSerial(
  key: BrandKey,
  request: SerialRequest,
  serial: string,
  at: Date,
  model?: Assertion,
): Promise<string> {
  if (/[\r\n]/.test(serial) || serial.length > 256)
    throw no('serial', 'the serial must be one line of at most 256 characters');
  if (key.accountId !== request.brandId && !delegatesSerials(model, request, key.accountId)) {
    throw no(
      'serial',
      `'${key.accountId}' is not the brand '${request.brandId}', and its model does not name it as serial-authority`,
    );
  }
  const headers = {
    'brand-id': request.brandId,
    model: request.model,
    serial,
    'device-key': request.deviceKey,
    'device-key-sha3-384': request.deviceKeyId,
    timestamp: writeTime(at),
  };
  return signAsBrand(key, 'serial', headers, at);
}

/** Returns whether the assertion is this model of the brand and lets the account sign serials of its devices. */
export function delegatesSerials(
  assertion: Assertion | undefined,
  { brandId, model }: Pick<SerialRequest, 'brandId' | 'model'>,
  accountId: string,
): boolean {
  const { type, headers } = assertion ?? {};
  const authorities = headers?.['serial-authority'];
  const isOfModel = type === 'model' && headers?.['brand-id'] === brandId && headers['model'] === model;
  return isOfModel && Array.isArray(authorities) && authorities.includes(accountId);
}

/**
 * Signs a revision of a snap with a provenance that its declaration delegates to the brand. `headers` holds the headers that do not follow
 * from the declaration, the brand and the time: `snap-sha3-384`, `provenance`, `snap-size`, `snap-revision`, `developer-id`.
 */
export async function signSnapRevision(
  key: BrandKey,
  declaration: Assertion,
  headers: Headers,
  at: Date,
): Promise<string> {
  const snapId = declaration.headers['snap-id'];
  if (declaration.type !== 'snap-declaration' || snapId === undefined)
    throw no('snap-revision', 'a snap-declaration is needed');
  const all: Headers = { ...headers, 'authority-id': key.accountId, 'snap-id': snapId, timestamp: writeTime(at) };
  if ((headers['provenance'] ?? defaultProvenance) === defaultProvenance) {
    throw no('snap-revision', `only a store can sign revisions of the provenance '${defaultProvenance}'`);
  }
  if (!delegatesRevision(declaration, { type: 'snap-revision', headers: all })) {
    throw no(
      'snap-revision',
      `the snap-declaration does not let '${key.accountId}' sign this revision of this provenance`,
    );
  }
  return signAsBrand(key, 'snap-revision', all, at);
}

async function signAsBrand(key: BrandKey, type: string, headers: Headers, at: Date): Promise<string> {
  const { signer, keyId, accountId, accountKey } = key;
  const all: Headers = { ...headers, 'authority-id': accountId };
  if (accountKey !== undefined) {
    const { 'public-key-sha3-384': id, 'account-id': owner } = accountKey.headers;
    if (id !== keyId || owner !== accountId)
      throw new Error(`cannot sign for ${accountId}: the account-key is for another key or account`);
    const state = keyState(accountKey, at);
    if (state !== 'valid') throw no(type, `the account-key of the brand says that the key is ${state}`);
    if (!constraintsAllow(accountKey, { ...all, type }))
      throw no(type, 'the constraints in the account-key of the brand do not allow it');
  }
  return signAssertion(signer, keyId, { type, headers: all, signedAt: at });
}

const no = (type: string, reason: string): Refusal =>
  new Refusal('api-error', `The ${type} cannot be signed: ${reason}.`);
