import type { SerialLogItem } from '#contract/wire.ts';
import type { SerialLogEntry } from '#records/devices/serial-log.ts';

/** An entry of the serial log; with the signed serial and the request if the query includes them. */
export const presentSerialLogEntry = (
  entry: SerialLogEntry,
  query: { 'include-serial-assertion'?: string; 'include-serial-request-assertion'?: string },
): SerialLogItem => ({
  'brand-account-id': entry.brandAccountId,
  'created-at': entry.createdAt,
  'model-name': entry.modelName,
  serial: entry.serial,
  'signing-key-sha3-384': entry.signingKeySha3384,
  ...(isFlagSet(query['include-serial-assertion']) && { 'serial-assertion': entry.serialAssertion }),
  ...(isFlagSet(query['include-serial-request-assertion']) && { 'serial-request-assertion': entry.serialRequest }),
});

const isFlagSet = (member: string | undefined): boolean => member !== undefined && member.toLowerCase() !== 'false';
