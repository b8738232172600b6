// Keeps a serial that was signed: what an operation for devices and a command on the host have in common.
import type { Assertion } from '#assertions/assertion.ts';
import type { SerialRequest } from '#assertions/signing.ts';
import { Refusal } from '#domain/refusal.ts';
import type { AuditEntry } from '#records/audit.ts';
import type { Records } from '#records/index.ts';
import { asKept } from '../assertions/keep.ts';

/** Writes a serial into the log and among the assertions; refuses one that another device has. */
export const keepSerial = (
  records: Pick<Records, 'change'>,
  entry: AuditEntry,
  { signed, request, text }: { signed: Assertion; request: SerialRequest; text: string },
): Promise<void> =>
  records.change(entry, async (tx) => {
    const { brandId, model, deviceKeyId } = request;
    const serial = signed.headers['serial'] as string;
    const kept = asKept(signed, 'signed', entry);
    const claimed = await tx.serialLog.claim({
      brandAccountId: brandId,
      modelName: model,
      serial,
      deviceKeySha3384: deviceKeyId,
      signingKeySha3384: signed.signKeyId,
      serialAssertion: kept.text,
      serialRequest: text,
      createdAt: entry.at,
    });
    if (!claimed) {
      throw new Refusal(
        'conflict',
        `The serial '${serial}' of the model '${model}' belongs to another device, or the device has one already.`,
      );
    }
    await tx.assertions.keep(kept);
  });
