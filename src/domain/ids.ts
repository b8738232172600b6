// Ids: 32 letters and digits for accounts and packages, UUIDs for uploads and sessions.
import { randomBytes, randomUUID } from './cryptography.ts';

export interface NewIds {
  /** 32 characters of `[a-zA-Z0-9]`, as the online store gives to accounts and packages. */
  id(): string;
  uuid(): string;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

let bytes = randomBytes(0);
let at = 0;

/** Takes a random byte from a stock. Random bytes for each id by itself would be 2 % of a registration (`npm run bench -- writes`). */
function nextByte(): number {
  if (at === bytes.length) {
    bytes = randomBytes(4096);
    at = 0;
  }
  return bytes[at++]!;
}

export const randomIds: NewIds = {
  id() {
    let id = '';
    // Bytes from 248 on are discarded so that each of the 62 characters is equally likely.
    while (id.length < 32) {
      const byte = nextByte();
      if (byte < 248) id += alphabet.charAt(byte % 62);
    }
    return id;
  },
  uuid: () => randomUUID(),
};

/** An account id of the online store or of this store. */
export const isAccountId = (text: string): boolean => /^(?:[a-zA-Z0-9]{32}|[-a-z0-9]{2,28})$/.test(text);

/** A package id: 32 letters and digits. */
export const isPackageId = (text: string): boolean => /^[a-zA-Z0-9]{32}$/.test(text);

export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
