// Serials: the identities of devices.
import { isModelName } from '#assertions/format/types.ts';
import type { Assertion } from '#assertions/format/assertion.ts';
import type { SerialRequest } from '#assertions/signing.ts';
import { isAccountId } from '#domain/ids.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords } from '#records/index.ts';
import { act } from '../act.ts';
import { parseReason } from '../reason.ts';
import { toAssertionRecord } from '../assertions/assertions.ts';
import { noSigningKey } from '../keys/signing-keys.ts';

export interface SignedSerial {
  signed: Assertion;
  request: SerialRequest;
  /** The request of the device, byte for byte. */
  text: string;
  /** The serial policy that chose the key; undefined if an administrator chose it. */
  under?: SerialTerms;
}

/** The state of the records when a serial was signed. */
export interface SerialTerms {
  /** The revision of the serial policy that named the key. */
  policy: number;
  apiKey: string | null;
  /** The former identity of the device; undefined if it is new. */
  remodelled: { model: string; serial: string } | undefined;
}

const serialOf = ({ signed }: SignedSerial): string => signed.headers['serial'] as string;

export const storeSerial = act({
  name: 'issue_serial',
  summary: 'Store a signed serial in the serial log and the assertions.',
  on: 'brand/ACCOUNT-ID/model/NAME/serial/SERIAL',
  object: (signedSerial: SignedSerial) =>
    `brand/${signedSerial.request.brandId}/model/${signedSerial.request.model}/serial/${serialOf(signedSerial)}`,
  gate: { never: 'a device waits for it, and the serial policy or the owner of the key has decided' },

  async perform(tx, signedSerial: SignedSerial, { at, actor, note }) {
    const { signed, request, text, under } = signedSerial;
    const { brandId, model, deviceKeyId } = request;
    const key = signed.signKeyId;
    // Signing takes time, so check that the terms still hold.
    if ((await tx.signingKeys.find(key)) === undefined) throw noSigningKey(request.brandId, key);
    if (under !== undefined && !(await areTermsCurrent(tx, request, under))) {
      throw new Refusal('conflict', `The serial policy of the model '${model}' was just changed. Try again.`);
    }
    const serial = serialOf(signedSerial);
    if ((await tx.revokedSerials.find(serial, `${brandId}/${model}`)) !== null) {
      throw new Refusal('forbidden', `The serial '${serial}' of the model '${model}' is revoked here.`);
    }
    const record = toAssertionRecord(signed, 'signed', { at, actor });
    const claimed = await tx.serialLog.claim({
      brandAccountId: brandId,
      modelName: model,
      serial,
      deviceKeySha3384: deviceKeyId,
      signingKeySha3384: key,
      serialAssertion: record.text,
      serialRequest: text,
      createdAt: at,
    });
    if (!claimed) {
      throw new Refusal(
        'conflict',
        `The serial '${serial}' of the model '${model}' belongs to another device, or the device has one already.`,
      );
    }
    await tx.assertions.keep(record);
    note({ key, ...(under !== undefined && { policy: under.policy }) });
  },
});

interface Revoked {
  brandId: string;
  model: string;
  serial: string;
  reason: string;
}

export const revokeSerial = act<Revoked, void>({
  name: 'revoke_serial',
  summary: 'Revoke the serial of a device: its session ends, and it gets no new session or serial.',
  on: 'brand/ACCOUNT-ID/model/NAME/serial/SERIAL',
  object: ({ brandId, model, serial }) => `brand/${brandId}/model/${model}/serial/${serial}`,
  gate: { never: 'a device in the wrong hands must lose access at once' },

  async perform(tx, { brandId, model, serial, reason }, { at, actor, note }) {
    const because = parseReason(reason);
    if (!isAccountId(brandId) || !isModelName(model) || !isSerial(serial)) {
      throw new Refusal('api-error', 'Name a serial by the account id of its brand, the model and the serial.');
    }
    if (!(await tx.revokedSerials.claim({ brandId, model, serial, because, revokedAt: at, revokedBy: actor }))) {
      throw new Refusal('conflict', `The serial '${serial}' of the model '${model}' is revoked already.`);
    }
    note({ because });
  },
});

const isSerial = (text: string): boolean => /^[^\s/\p{Cc}]{1,256}$/u.test(text);

async function areTermsCurrent(
  tx: ChangeRecords,
  { brandId, model: name }: SerialRequest,
  { policy, apiKey, remodelled: before }: SerialTerms,
): Promise<boolean> {
  const model = await tx.models.find(brandId, name);
  const current = await tx.serialPolicies.current(brandId, name);
  const mayBecome =
    before === undefined || (await tx.remodelAllowlist.allows(brandId, before.model, before.serial, name));
  return model?.apiKey === apiKey && current?.revision === policy && mayBecome;
}
