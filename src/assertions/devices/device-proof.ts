// Verifies that a device that requests a session holds the key in its serial, and that serial and model lead to a trusted root. Pure
// functions.
import { Refusal } from '#domain/refusal.ts';
import { parseAssertion, quoted, stream, type Assertion } from '../format/assertion.ts';
import { acceptUpload, checkSignature, type Roots } from '../chain.ts';
import { HeaderReader } from '../format/headers.ts';
import { decodePublicKey } from '../format/openpgp.ts';
import { delegatesSerials } from '../signing.ts';
import { checkAssertion, series } from '../format/types.ts';

/** The texts of the three assertions that a device sends to identify itself. */
export interface SessionRequestTexts {
  readonly request: string;
  readonly serial: string;
  readonly model: string;
}

/** The parsed proof: the device holds the key in its serial. The serial itself is not yet trusted. */
export interface DeviceProof {
  readonly brandId: string;
  readonly model: string;
  readonly serial: string;
  readonly nonce: string;
  /** Time of the device's own clock. Unreliable: a board without a battery may have any time. */
  readonly timestamp: string;
  readonly deviceKeyId: string;
  /** The id of the key that signed the serial. */
  readonly signedWith: string;
  readonly serialAssertion: Assertion;
  readonly modelAssertion: Assertion;
}

export interface StoredDeviceAssertions {
  readonly roots: Roots;
  /** Stored account-keys of the signers of the serial and the model. */
  readonly signerKeys: readonly Assertion[];
  /** The stored model and serial of these names. The device's copies may be older. */
  readonly model: Assertion | undefined;
  readonly serial: Assertion | undefined;
  readonly now: Date;
}

/** Reads the assertions of a session request. Refuses them unless all are about one device and its key signed the request. */
export function readProof(sent: SessionRequestTexts): DeviceProof {
  const request = read(sent.request, 'device-session-request');
  const serial = read(sent.serial, 'serial');
  const model = read(sent.model, 'model');
  const headers = new HeaderReader('device-session-request assertion', request.headers);
  const own = new HeaderReader('serial assertion', serial.headers);
  for (const name of ['brand-id', 'model', 'serial']) {
    const others = name === 'serial' ? [serial] : [serial, model];
    for (const other of others) {
      if (other.headers[name] === headers.text(name)) continue;
      throw no(
        `the ${name} of the ${other.type} is ${quoted(readHeader(other, name))}, not ${quoted(headers.text(name))}`,
      );
    }
  }
  if (own.text('device-key-sha3-384') !== request.signKeyId) {
    throw no('the device-session-request names another key than the serial does');
  }
  checkSignature(request, decodePublicKey(own.text('device-key')));
  return {
    brandId: headers.text('brand-id'),
    model: headers.text('model'),
    serial: headers.text('serial'),
    nonce: headers.text('nonce'),
    timestamp: headers.text('timestamp'),
    deviceKeyId: request.signKeyId,
    signedWith: serial.signKeyId,
    serialAssertion: serial,
    modelAssertion: model,
  };
}

/** Returns the names of the assertions that `verifyDeviceProof` needs. */
export const namesFor = ({ brandId, model, serial, signedWith, modelAssertion }: DeviceProof) => ({
  keys: [...new Set([signedWith, modelAssertion.signKeyId])].map((id) => `account-key/${id}`),
  model: `model/${series}/${brandId}/${model}`,
  serial: `serial/${brandId}/${model}/${serial}`,
});

/** Refuses a proof if its serial or model is not trusted, or if the serial now belongs to another device. */
export function verifyDeviceProof(
  proof: DeviceProof,
  { roots, signerKeys, model, serial, now }: StoredDeviceAssertions,
): void {
  const { serialAssertion, modelAssertion, brandId, deviceKeyId } = proof;
  acceptUpload(stream([modelAssertion, serialAssertion]), { roots, storedAssertions: signerKeys, held: [], now });
  const authority = readHeader(serialAssertion, 'authority-id');
  // An older model cannot restore an authority that a newer model has removed.
  const isNewer = model !== undefined && model.revision > modelAssertion.revision;
  if (isNewer && authority !== brandId && !delegatesSerials(model, proof, authority)) {
    throw no(`the model that is kept here, revision ${model.revision}, does not let '${authority}' sign its serials`);
  }
  if (serial !== undefined && !isOfDevice(serial, deviceKeyId)) {
    throw new Refusal(
      'unauthorized',
      `The serial ${quoted(proof.serial)} of the model '${proof.model}' belongs to another device here. Request a new serial.`,
    );
  }
}

/** Returns whether a serial contains this device key. */
export const isOfDevice = (serial: Assertion, deviceKeyId: string): boolean =>
  serial.headers['device-key-sha3-384'] === deviceKeyId;

function read(text: string, type: string): Assertion {
  const assertion = parseAssertion(text);
  if (assertion.type !== type) throw no(`an assertion of type ${quoted(assertion.type)} is where a ${type} belongs`);
  checkAssertion(assertion);
  return assertion;
}

const readHeader = ({ headers }: Assertion, name: string): string => {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
};

const no = (reason: string): Refusal => new Refusal('api-error', `The device cannot have a session: ${reason}.`);
