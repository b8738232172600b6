// larder assertion sign
import { storeSignedAssertion } from '#acts/assertions/assertions.ts';
import { storeSerial } from '#acts/devices/serials.ts';
import {
  isAssertionValue,
  parseAssertion,
  stream,
  type Assertion,
  type Headers,
} from '#assertions/format/assertion.ts';
import { withPrerequisites } from '#assertions/prerequisites.ts';
import {
  readSerialRequest,
  signModel,
  signSerial,
  signSystemUser,
  signValidationSet,
  type BrandKey,
} from '#assertions/signing.ts';
import { nameOf, series } from '#assertions/format/types.ts';
import { readDateTime } from '#domain/date-time.ts';
import { Refusal } from '#domain/refusal.ts';
import { accountKeysOf } from '#operations/assertions/account-keys.ts';
import type { SigningKey } from '#records/keys/signing-keys.ts';
import { readAssertionFile, readTextFile } from './read-file.ts';
import { command, Failure, UsageError } from '../frame/command.ts';
import { findBrand, custodyOf, findSigningKey } from '../keys/find-keys.ts';
import { withStore, type OpenStore } from '../frame/store.ts';

const types = ['model', 'serial', 'validation-set', 'system-user'] as const;
type SignedType = (typeof types)[number];

export const assertionSign = command({
  name: 'assertion sign',
  summary: "Sign a model, a serial, a validation set or a system user with a brand's key.",
  description:
    "The signed assertion is stored, and written with its prerequisites to a file that devices take with 'snap " +
    "ack'. If an assertion is signed again, it gets the next revision.",
  positionals: [
    { name: 'type', value: 'TYPE', summary: 'The type: model, serial, validation-set or system-user.' },
    { name: 'file', value: 'FILE', summary: 'The headers as JSON, or the serial-request.' },
  ],
  options: {
    brand: { type: 'string', value: 'ID', summary: 'The brand that signs.', required: true },
    key: { type: 'string', value: 'KEY', summary: 'The name or id of the key. Not needed if the brand has only one.' },
    serial: { type: 'string', value: 'SERIAL', summary: 'The serial. Default: the serial that the device asks for.' },
  },
  examples: [
    'larder assertion sign model pump.json --brand acme',
    'larder assertion sign serial request.assert --brand acme --key serials --serial 0001 --json',
  ],

  run({ positionals, options, data, world }) {
    const type = types.find((candidate) => candidate === positionals.type);
    if (type === undefined) throw new UsageError(`TYPE is one of ${types.join(', ')}, not '${positionals.type}'`);
    if (options.serial !== undefined && type !== 'serial') throw new UsageError('--serial is for a serial alone');
    const text = type === 'serial' ? readAssertionFile(positionals.file) : readTextFile(positionals.file);
    return withStore({ data, world }, async (store) => {
      const { accountId } = await findBrand(store, options.brand);
      const signingKey = await keyFor(store, accountId, options.key);
      const accountKey = (await accountKeysOf([signingKey], store.records)).get(signingKey.sha3_384);
      const key = { signer: custodyOf(store, world), keyId: signingKey.sha3_384, accountId, accountKey };
      const signed =
        type === 'serial'
          ? await signSerialRequest(store, key, text, options.serial)
          : await signHeaders(store, key, type, headersIn(text, positionals.file));
      const chain = await withPrerequisites(signed, (names) => store.records.assertions.listOf(names));
      const whole = stream(chain);
      const isComplete = accountKey !== undefined;
      if (!isComplete) {
        world.stderr.write(`The key ${signingKey.name} is not registered yet; devices take this only once it is.\n`);
      }
      return {
        text: whole.trimEnd(),
        json: { type, name: nameOf(signed), revision: signed.revision, registered: isComplete, stream: whole },
      };
    });
  },
});

/** The named key, or the only one of the brand. */
async function keyFor(store: OpenStore, brandId: string, nameOrId: string | undefined): Promise<SigningKey> {
  if (nameOrId !== undefined) return findSigningKey(store, nameOrId, brandId);
  const keys = await store.records.signingKeys.list(brandId);
  const [only, other] = keys;
  if (only === undefined) throw new Refusal('resource-not-found', `The brand ${brandId} has no signing key.`);
  if (other !== undefined) {
    throw new UsageError(`the brand has several keys; name one with --key: ${keys.map(({ name }) => name).join(', ')}`);
  }
  return findSigningKey(store, only.sha3_384, brandId);
}

const sign = { model: signModel, 'validation-set': signValidationSet, 'system-user': signSystemUser } as const;

async function signHeaders(
  store: OpenStore,
  key: BrandKey,
  type: Exclude<SignedType, 'serial'>,
  givenHeaders: Headers,
): Promise<Assertion> {
  const set: Headers = {
    type,
    'authority-id': key.accountId,
    ...(type === 'validation-set' ? { series, 'account-id': key.accountId } : { 'brand-id': key.accountId }),
    ...(type === 'model' && { series }),
  };
  for (const [name, value] of Object.entries(set)) {
    if (Object.hasOwn(givenHeaders, name) && givenHeaders[name] !== value) {
      throw new Failure(
        `the header ${name} is ${JSON.stringify(givenHeaders[name])}, but must be ${JSON.stringify(value)} here`,
      );
    }
  }
  const { timestamp } = givenHeaders;
  const headers = Object.fromEntries(
    Object.entries(givenHeaders).filter(([name]) => name !== 'type' && name !== 'timestamp'),
  );
  const at = typeof timestamp === 'string' ? readDateTime(timestamp) : store.now();
  if (at === undefined) {
    throw new Failure(`the header timestamp is a time such as 2030-01-01T00:00:00Z, not ${JSON.stringify(timestamp)}`);
  }
  const moment = at;
  const first = parseAssertion(await sign[type](key, headers, moment));
  const before = await store.records.assertions.find(nameOf(first));
  const isNext = before !== undefined && !Object.hasOwn(headers, 'revision');
  const next = { ...headers, revision: String((before?.revision ?? -1) + 1) };
  const signed = isNext ? parseAssertion(await sign[type](key, next, moment)) : first;
  await store.acts.do(storeSignedAssertion, store.person, { signed });
  return signed;
}

async function signSerialRequest(
  store: OpenStore,
  key: BrandKey,
  text: string,
  chosenSerial: string | undefined,
): Promise<Assertion> {
  const request = readSerialRequest(text);
  const serial = chosenSerial ?? request.serial;
  if (serial === undefined) throw new UsageError('the device asks for no serial of its own; give it one with --serial');
  const { records, now } = store;
  const model = await records.assertions.find(`model/${series}/${request.brandId}/${request.model}`);
  const signed = parseAssertion(await signSerial(key, request, serial, now(), model && parseAssertion(model.text)));
  await store.acts.do(storeSerial, store.person, { signed, request, text });
  return signed;
}

function headersIn(text: string, file: string): Headers {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Failure(`${file} is not JSON: ${(error as Error).message}`, { cause: error });
  }
  if (!isAssertionValue(value) || typeof value === 'string' || Array.isArray(value)) {
    throw new Failure(`${file} must hold a JSON object of headers with strings, lists and objects as values`);
  }
  return value as Headers;
}
