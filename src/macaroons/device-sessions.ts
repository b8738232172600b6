// Sessions of devices: what a device shows that has proven its serial. Nothing is recorded of them: each says whose it
// is and when it ends, signed with a key that only this store has.
import { hkdfSync, randomBytes } from 'node:crypto';

import { conditionsOf, mint, signatureMatches, withFirstPartyCaveat } from './codec/macaroon.ts';
import { readToken, writeToken } from './codec/text.ts';

/** A device as its serial assertion names it. */
export interface Device {
  /** An account id. */
  readonly brand: string;
  readonly model: string;
  readonly serial: string;
}

export interface DeviceSession {
  readonly device: Device;
  /** The id of the store that gave it. */
  readonly store: string;
  /** The id of the key of the device itself, which its serial names. */
  readonly deviceKeyId: string;
  /** The id of the key that signed the device's serial. */
  readonly signedWith: string;
  readonly until: Date;
}

export interface DeviceSessions {
  /** The session as text without quotes, which to a device is opaque. */
  write(session: DeviceSession): string;
  /** What a session says that this store gave and that has not ended; nothing of any other text. */
  read(text: string): DeviceSession | undefined;
}

/**
 * @param siteKey from which the key of the sessions is derived
 * @param clock the latest time that was seen
 */
export function createDeviceSessions(siteKey: Buffer, clock: () => Date): DeviceSessions {
  const key = Buffer.from(hkdfSync('sha256', siteKey, '', 'larder device sessions', 32));
  return {
    write({ device: { brand, model, serial }, store, deviceKeyId, signedWith, until }) {
      const identifier = `${kind}:${randomBytes(16).toString('base64url')}`;
      const values = [brand, model, serial, store, deviceKeyId, signedWith, String(until.getTime())];
      const conditions = names.map((name, at) => `${name} ${values[at]}`);
      return writeToken(conditions.reduce(withFirstPartyCaveat, mint(key, identifier, '')));
    },

    read(text) {
      const macaroon = readToken(text);
      if (macaroon === undefined || !macaroon.identifier.toString('latin1').startsWith(`${kind}:`)) return undefined;
      // Whoever holds a macaroon may add conditions to it; none but ours is known here.
      if (macaroon.caveats.length !== names.length || !signatureMatches(macaroon, key)) return undefined;
      const values = (conditionsOf(macaroon) ?? []).map((condition, at) => condition.slice(`${names[at]} `.length));
      const [brand, model, serial, store, deviceKeyId, signedWith, end] = values as Values;
      const until = new Date(Number(end));
      if (until <= clock()) return undefined;
      return { device: { brand, model, serial }, store, deviceKeyId, signedWith, until };
    },
  };
}

type Values = [string, string, string, string, string, string, string];

const kind = 'larder:device:1';
/** The conditions, in the order in which each session has them. */
const names = ['brand', 'model', 'serial', 'store', 'device-key', 'signed-with', 'time-before-ms'] as const;
