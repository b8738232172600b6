// How often somebody may ask for nonces and sessions. A fleet stands behind one address, and snapd does not try again when it
// is told to wait: so a device that has proven its serial counts as itself, and an address for what nobody has proven.
import { hash } from 'node:crypto';

import { isAmong, networks } from '#api/address.ts';
import type { Services } from '#api/services.ts';
import { clientOf } from '#domain/client.ts';
import { minutes, seconds, timestamp } from '#domain/clock.ts';
import type { Vessel } from '#domain/rate.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Passing } from '#records/index.ts';

/**
 * What an address may ask for without a proof: 100 a second, and what a site of some hundred devices asks at once when its
 * power comes back. It guards the threads of one process, so each counts for itself.
 */
const ofAddress: Vessel = { perSecond: 100, holds: 1000 };

/** How many sessions a device gets in the time for which it is known that its nonces were used, which is 70 minutes. */
const ofDevice = 60;

type Asked = Pick<Services, 'config' | 'proofRates'> & { address: string };

/** Refuses what comes from an address that asks and asks. */
export function refuseCrowd({ address, config, proofRates }: Asked): void {
  if (isAmong(address, networks(config.limits.known_networks))) return;
  const wait = proofRates.ask(clientOf(address), 1, ofAddress);
  if (wait === undefined) return;
  throw new Refusal(
    'too-many-requests',
    `Too many nonces and sessions are asked for at ${address}; try again in ${String(wait)} seconds, or name the network ` +
      'in limits.known_networks.',
    wait,
  );
}

/** Lets what was asked at an address on the way to a session count no more: a nonce, and the session itself. */
export const proven = ({ address, proofRates }: Asked): void => proofRates.giveBack(clientOf(address), 2);

/** A device as it is counted, wherever it stands. */
export const countedAs = ({ brandId, serial }: { brandId: string; serial: string }): string =>
  hash('sha256', JSON.stringify([brandId, serial]), 'base64url');

/** Why a device gets no further session now; nothing where it does. */
export async function tooManyOf(
  device: string,
  moment: Date,
  { deviceNonces }: Pick<Passing, 'deviceNonces'>,
): Promise<Refusal | undefined> {
  const ends = await deviceNonces.endOf(device, timestamp(moment), ofDevice);
  if (ends === undefined) return undefined;
  const wait = Math.max(1, Math.ceil((Date.parse(ends) - moment.getTime()) / seconds(1)));
  return new Refusal(
    'too-many-requests',
    `This device had ${String(ofDevice)} sessions lately; it gets the next one in ${String(Math.ceil((wait * seconds(1)) / minutes(1)))} minutes.`,
    wait,
  );
}
