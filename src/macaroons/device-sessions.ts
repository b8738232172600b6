// Sessions of devices that have proven their serial. They are not recorded: each names its device and its end, and is
// signed with a key that only this store has.
import { deriveKey, randomBytes } from '#domain/cryptography.ts';
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
  /** The id of the store that issued it. */
  readonly store: string;
  /** The id of the device's own key, which its serial names. */
  readonly deviceKeyId: string;
  /** The id of the key that signed the device's serial. */
  readonly signedWith: string;
  readonly until: Date;
}

export interface DeviceSessions {
  /** Writes a session as text without quotes; devices treat it as opaque. */
  write(session: DeviceSession): string;
  /** Reads a session that this store issued and that has not expired; undefined for any other text. */
  read(text: string): DeviceSession | undefined;
}

/** @param siteKey the session key is derived from it @param clock the latest time seen */
export function createDeviceSessions(siteKey: Buffer, clock: () => Date): DeviceSessions {
  const key = deriveKey(siteKey, 'larder device sessions');
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
      // The bearer of a macaroon may add conditions to it; only the conditions of this store are accepted here.
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
/** The conditions of each session, in this order. */
const names = ['brand', 'model', 'serial', 'store', 'device-key', 'signed-with', 'time-before-ms'] as const;
