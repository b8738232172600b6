// Time-based one-time passwords (RFC 6238), with HMAC-SHA-1 and six digits, which every authenticator supports.
import { createMac, randomBytes, timingSafeEqual } from '#domain/cryptography.ts';
import { seconds } from '#domain/clock.ts';

const step = seconds(30);
/** A code is also accepted one step early or late, for clocks that differ. */
const slack = 1;

export const newTotpSecret = (): Buffer => randomBytes(20);

/** The time step that the code belongs to, at most `slack` steps from `now`; undefined if the code is wrong. */
export function stepOf(secret: Buffer, code: string, now: Date): number | undefined {
  const digits = code.replace(/[\s-]/g, '');
  if (!/^[0-9]{6}$/.test(digits)) return undefined;
  const current = Math.floor(now.getTime() / step);
  let matchedStep: number | undefined;
  for (let at = current - slack; at <= current + slack; at++) {
    if (timingSafeEqual(Buffer.from(codeAt(secret, at)), Buffer.from(digits))) matchedStep = at;
  }
  return matchedStep;
}

/** The code of a step: RFC 4226, section 5.3. */
export function codeAt(secret: Buffer, at: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(at));
  const mac = createMac('one-time password', secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0xf;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

/** The secret in the formats that authenticators accept: text to type in, and a URL (often shown as a QR code). */
export function totpAddress(secret: Buffer, account: string, store: string): { secret: string; address: string } {
  const text = base32(secret);
  const label = `${encodeURIComponent(store)}:${encodeURIComponent(account)}`;
  return { secret: text, address: `otpauth://totp/${label}?secret=${text}&issuer=${encodeURIComponent(store)}` };
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function base32(bytes: Buffer): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => letters[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
}
