// How a device proves its serial when it asks for a session: it signs what it asks with the key that its serial names,
// and serial and model lead to a root of trust. Nothing here asks or changes anything outside.
import { Refusal } from '#domain/refusal.ts';
import { parseAssertion, quoted, stream, type Assertion } from './assertion.ts';
import { acceptUpload, checkSignature, type Roots } from './chain.ts';
import { HeaderReader } from './headers.ts';
import { decodePublicKey } from './openpgp.ts';
import { delegatesSerials } from './signing.ts';
import { checkAssertion, series } from './types.ts';

/** What a device sends to prove who it is: the texts of three assertions. */
export interface Sent {
  readonly request: string;
  readonly serial: string;
  readonly model: string;
}

/** The same once the device is known to hold the key that its serial names; nobody has vouched for that serial yet. */
export interface Proof {
  readonly brandId: string;
  readonly model: string;
  readonly serial: string;
  readonly nonce: string;
  /** What the device's own clock said, which a board without a battery sets to anything. */
  readonly timestamp: string;
  readonly deviceKeyId: string;
  /** The id of the key that signed the serial. */
  readonly signedWith: string;
  readonly serialAssertion: Assertion;
  readonly modelAssertion: Assertion;
}

export interface Kept {
  readonly roots: Roots;
  /** The account-keys of those who signed the serial and the model, as far as they are kept. */
  readonly known: readonly Assertion[];
  /** The model and the serial of these names as they are kept here; what a device has may be older. */
  readonly model: Assertion | undefined;
  readonly serial: Assertion | undefined;
  readonly now: Date;
}

/** Reads what a device sends for a session, and refuses it unless all of it is about one device whose key signed it. */
export function readProof(sent: Sent): Proof {
  const request = read(sent.request, 'device-session-request');
  const serial = read(sent.serial, 'serial');
  const model = read(sent.model, 'model');
  const headers = new HeaderReader('device-session-request assertion', request.headers);
  const own = new HeaderReader('serial assertion', serial.headers);
  for (const name of ['brand-id', 'model', 'serial']) {
    const others = name === 'serial' ? [serial] : [serial, model];
    for (const other of others) {
      if (other.headers[name] === headers.text(name)) continue;
      throw no(`the ${name} of the ${other.type} is ${quoted(said(other, name))}, not ${quoted(headers.text(name))}`);
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

/** What must be found for `believe`, by name. */
export const namesFor = ({ brandId, model, serial, signedWith, modelAssertion }: Proof) => ({
  keys: [...new Set([signedWith, modelAssertion.signKeyId])].map((id) => `account-key/${id}`),
  model: `model/${series}/${brandId}/${model}`,
  serial: `serial/${brandId}/${model}/${serial}`,
});

/** Refuses a proof whose serial or model nobody vouches for, or whose serial has become another device's. */
export function believe(proof: Proof, { roots, known, model, serial, now }: Kept): void {
  const { serialAssertion, modelAssertion, brandId, deviceKeyId } = proof;
  acceptUpload(stream([modelAssertion, serialAssertion]), { roots, known, held: [], now });
  const authority = said(serialAssertion, 'authority-id');
  // Whom a newer model does not name any more cannot be brought back by an older one.
  const isNewer = model !== undefined && model.revision > modelAssertion.revision;
  if (isNewer && authority !== brandId && !delegatesSerials(model, proof, authority)) {
    throw no(`the model that is kept here, revision ${model.revision}, does not let '${authority}' sign its serials`);
  }
  if (serial !== undefined && !isOfDevice(serial, deviceKeyId)) {
    throw new Refusal(
      'unauthorized',
      `The serial ${quoted(proof.serial)} of the model '${proof.model}' belongs to another device here; ask for a new serial.`,
    );
  }
}

/** Whether a serial names this key as that of its device. */
export const isOfDevice = (serial: Assertion, deviceKeyId: string): boolean =>
  serial.headers['device-key-sha3-384'] === deviceKeyId;

function read(text: string, type: string): Assertion {
  const assertion = parseAssertion(text);
  if (assertion.type !== type) throw no(`an assertion of type ${quoted(assertion.type)} is where a ${type} belongs`);
  checkAssertion(assertion);
  return assertion;
}

const said = ({ headers }: Assertion, name: string): string => {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
};

const no = (reason: string): Refusal => new Refusal('api-error', `The device cannot have a session: ${reason}.`);
