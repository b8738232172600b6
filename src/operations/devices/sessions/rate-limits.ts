// Rate limits for nonces and device sessions. A whole fleet can share one address, and snapd does not retry after a 429. A device
// that proved its serial is therefore counted on its own, and only requests without a proof count for the address.
import { computeDigest } from '#domain/cryptography.ts';
import { isInNetworks, toBlockList } from '#http/request/client-address.ts';
import type { Services } from '#http/services.ts';
import { clientOf } from '#domain/client.ts';
import { minutes, seconds, timestamp } from '#domain/clock.ts';
import type { TokenBucket } from '#domain/rate-limit.ts';
import { Refusal } from '#domain/refusal.ts';
import type { EphemeralRecords } from '#records/index.ts';

/**
 * Limit per address for requests without a proof: 100 per second, with a burst of 1000 for a site of some hundred devices after a
 * power cut. The limit protects the threads of one process, so each process counts separately.
 */
const addressRate: TokenBucket = { perSecond: 100, holds: 1000 };

/** Maximum sessions of a device within the 70 minutes that used nonces are remembered. */
const maxDeviceSessions = 60;

type DeviceProofCall = Pick<Services, 'config' | 'proofRates'> & { address: string };

/** Refuses the request if its address exceeds the limit. */
export function refuseBeyondRateLimit({ address, config, proofRates }: DeviceProofCall): void {
  if (isInNetworks(address, toBlockList(config.limits.known_networks))) return;
  const wait = proofRates.take(clientOf(address), 1, addressRate);
  if (wait === undefined) return;
  throw new Refusal(
    'too-many-requests',
    `Too many requests for nonces and sessions from ${address}. Try again in ${String(wait)} seconds, or add the network ` +
      'to limits.known_networks.',
    wait,
  );
}

/** Returns the two requests of a successful login, the nonce and the session, to the limit of the address. */
export const refundProof = ({ address, proofRates }: DeviceProofCall): void => proofRates.refund(clientOf(address), 2);

/** The key that a device is counted under, independent of its address. */
export const deviceRateKey = ({ brandId, serial }: { brandId: string; serial: string }): string =>
  computeDigest('counter', JSON.stringify([brandId, serial]), 'base64url');

/** The refusal if the device has reached its session limit; else undefined. */
export async function checkSessionLimit(
  device: string,
  moment: Date,
  { deviceNonces }: Pick<EphemeralRecords, 'deviceNonces'>,
): Promise<Refusal | undefined> {
  const ends = await deviceNonces.endOf(device, timestamp(moment), maxDeviceSessions);
  if (ends === undefined) return undefined;
  const wait = Math.max(1, Math.ceil((Date.parse(ends) - moment.getTime()) / seconds(1)));
  return new Refusal(
    'too-many-requests',
    `This device has started ${String(maxDeviceSessions)} sessions recently. It can start the next one in ${String(Math.ceil((wait * seconds(1)) / minutes(1)))} minutes.`,
    wait,
  );
}
