// Issues the serial of a device: verifies the request, signs with the key of the model's serial policy, and writes the serial log.
import { computeDigest, timingSafeEqual } from '#domain/cryptography.ts';
import { storeSerial as act, type SerialTerms } from '#acts/devices/serials.ts';
import { parseAssertion, stream, type Assertion } from '#assertions/format/assertion.ts';
import { acceptUpload } from '#assertions/chain.ts';
import { readSerialRequest, signSerial, type SerialRequest } from '#assertions/signing.ts';
import { prerequisitesOf } from '#assertions/prerequisites.ts';
import { series } from '#assertions/format/types.ts';
import type { Services } from '#http/services.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Model } from '#records/brands/models.ts';
import type { SerialLogEntry } from '#records/devices/serial-log.ts';
import { accountKeysOf } from '../../assertions/account-keys.ts';

type SerialIssueServices = Pick<Services, 'records' | 'acts' | 'roots' | 'custody' | 'requestIds' | 'now' | 'newId'> & {
  requestId: string;
};

/** The serial assertion for this request; a device that asks again gets the same assertion. */
export async function issueSerial(text: string, apiKey: string, parts: SerialIssueServices): Promise<Assertion> {
  const { records, requestIds, now } = parts;
  const moment = now();
  const request = readSerialRequest(text);
  if (!requestIds.holds(request.requestId, moment)) {
    throw new Refusal('forbidden', 'This store did not issue the request-id within the last hour. Request a new one.');
  }
  const model = await records.models.find(request.brandId, request.model);
  if (model === undefined) {
    throw new Refusal(
      'resource-not-found',
      `This store knows no model '${request.model}' of the brand '${request.brandId}'.`,
    );
  }
  checkApiKey(model, apiKey);
  const earlier = await records.serialLog.ofDevice(request.brandId, request.deviceKeyId);
  const same = earlier.find(({ modelName }) => modelName === request.model);
  await refuseRevoked(earlier, request.brandId, records);
  if (same !== undefined) return parseAssertion(same.serialAssertion);
  const former = await formerSerial(request, earlier, parts);
  const remodelled = former?.model === request.model ? undefined : former;
  const serial = request.serial ?? former?.serial ?? parts.newId.uuid();
  return signAndKeep({ request, text, serial, apiKey: model.apiKey, remodelled }, moment, parts);
}

function checkApiKey({ apiKey, name }: Model, presentedKey: string): void {
  if (apiKey === null) return;
  const [expectedHash, presentedHash] = [apiKey, presentedKey].map((key) =>
    Buffer.from(computeDigest('secret', key), 'hex'),
  ) as [Buffer, Buffer];
  if (timingSafeEqual(expectedHash, presentedHash)) return;
  throw new Refusal('forbidden', `The header api-key of this request is not the api-key of the model '${name}'.`);
}

/** Refuses a device if one of its serials was revoked, for any model. */
async function refuseRevoked(
  serials: readonly SerialLogEntry[],
  brandId: string,
  { revokedSerials }: Pick<SerialIssueServices['records'], 'revokedSerials'>,
): Promise<void> {
  for (const { modelName, serial } of serials) {
    const revoked = await revokedSerials.find(serial, `${brandId}/${modelName}`);
    if (revoked === null) continue;
    throw new Refusal('forbidden', `The serial '${serial}' of this device was revoked: ${revoked.because}`);
  }
}

/** The former model and serial of the device, after the serial is verified and the remodel is permitted. */
async function formerSerial(
  request: SerialRequest,
  earlier: readonly SerialLogEntry[],
  parts: SerialIssueServices,
): Promise<{ model: string; serial: string } | undefined> {
  const { records } = parts;
  const enclosed = request.enclosed.find(({ type }) => type === 'serial');
  const [logged] = earlier;
  if (enclosed === undefined && logged === undefined) return undefined;
  const before =
    enclosed === undefined
      ? { brand: request.brandId, model: logged?.modelName ?? '', serial: logged?.serial ?? '' }
      : await readEnclosedSerial(enclosed, request, earlier, parts);
  if (before.brand === request.brandId && before.model === request.model) return before;
  const isPermitted =
    before.brand === request.brandId &&
    (await records.remodelAllowlist.allows(before.brand, before.model, before.serial, request.model));
  if (isPermitted) return before;
  throw new Refusal(
    'forbidden',
    `The remodel allowlist does not permit the device with the serial '${before.serial}' of the model '${before.model}' to become '${request.model}'.`,
  );
}

/** Returns the content of an enclosed serial. Refuses a serial of another device, and one without a valid signature. */
async function readEnclosedSerial(
  serial: Assertion,
  request: SerialRequest,
  earlier: readonly SerialLogEntry[],
  { records, roots, now }: SerialIssueServices,
): Promise<{ brand: string; model: string; serial: string }> {
  const content = {
    brand: serial.headers['brand-id'] as string,
    model: serial.headers['model'] as string,
    serial: serial.headers['serial'] as string,
  };
  if (serial.headers['device-key-sha3-384'] !== request.deviceKeyId) {
    throw new Refusal('forbidden', 'The serial in the request belongs to another device.');
  }
  const isOurs = earlier.some(({ modelName, serial }) => modelName === content.model && serial === content.serial);
  if (!isOurs) {
    const stored = await records.assertions.listOf(prerequisitesOf(serial));
    const prerequisites = stored.map(({ text }) => parseAssertion(text));
    acceptUpload(stream([serial]), { roots: roots(), storedAssertions: prerequisites, held: [], now: now() });
  }
  return content;
}

interface SerialSigningInput extends Omit<SerialTerms, 'policy'> {
  request: SerialRequest;
  /** The request as it was sent. */
  text: string;
  serial: string;
}

async function signAndKeep(
  { request, text, serial, ...terms }: SerialSigningInput,
  moment: Date,
  parts: SerialIssueServices,
): Promise<Assertion> {
  const { records, acts, custody, requestId } = parts;
  const { brandId, model, deviceKeyId } = request;
  const policy = await records.serialPolicies.current(brandId, model);
  if (policy === undefined) {
    throw new Refusal(
      'forbidden',
      `The model '${model}' has no serial policy, so the store has no key to sign the serial. The brand must create a policy.`,
    );
  }
  const { signingKeySha3384: keyId, authority } = policy;
  const accountKey = (await accountKeysOf([{ sha3_384: keyId }], records)).get(keyId);
  const key = { signer: custody, keyId, accountId: authority, accountKey };
  // If another account signs, the model assertion of the brand must still permit it.
  const storedModel =
    authority === brandId ? undefined : await records.assertions.find(`model/${series}/${brandId}/${model}`);
  const signed = parseAssertion(
    await signSerial(key, request, serial, moment, storedModel && parseAssertion(storedModel.text)),
  );
  const actor = { actor: `device:${deviceKeyId}`, requestId };
  await acts.do(act, actor, { signed, request, text, under: { ...terms, policy: policy.revision } });
  return signed;
}
