// How much the check of every request costs above the HMAC chain that it cannot do without.
// Run it by hand: node test/macaroons/codec/measure.ts
import { createHmac } from 'node:crypto';
import {
  bindForRequest,
  mint,
  signatureMatches,
  verify,
  withFirstPartyCaveat,
  withThirdPartyCaveat,
} from '#macaroons/codec/macaroon.ts';
import { readToken, writeToken } from '#macaroons/codec/text.ts';
import { caveatRootKey, met, rootKey } from './recipes.ts';

const token = [
  'time-before 2031-01-01T00:00:00.000Z',
  'time-since 2030-01-01T00:00:00.000Z',
  'session-id 0b5e2a52-6f0a-4d3e-9f2b-2f6d3f1c8a11',
  'permissions ["package-manage","package-view"]',
  'channels ["*/edge","*/beta"]',
  'packages [{"type":"snap","name":"hello"}]',
].reduce(withFirstPartyCaveat, mint(rootKey, 'a key id and a nonce', 'https://store.example'));
const text = writeToken(token);
const caveat = { caveatRootKey, identifier: 'who is it?', location: 'https://store.example/identity' };
const root = withThirdPartyCaveat(token, caveat);
const declared = withFirstPartyCaveat(mint(caveatRootKey, 'who is it?', ''), 'declared username ada');
const discharges = [bindForRequest(root, declared)];

const plainHmac = (key: Buffer, data: Buffer): Buffer => createHmac('sha256', key).update(data).digest();
const fastHmac = (key: Buffer, data: Buffer): Buffer =>
  createHmac('sha256', key.toString('latin1'), { encoding: 'latin1' }).update(data).digest();

function bareChain(hmac: (key: Buffer, data: Buffer) => Buffer): Buffer {
  let signature = hmac(Buffer.from('macaroons-key-generator'), rootKey);
  signature = hmac(signature, token.identifier);
  for (const { identifier } of token.caveats) signature = hmac(signature, identifier);
  return signature;
}

const subjects = {
  'bare HMAC chain': () => bareChain(fastHmac).equals(token.signature),
  'bare chain, keys as Buffers': () => bareChain(plainHmac).equals(token.signature),
  signatureMatches: () => signatureMatches(token, rootKey),
  'verify, conditions checked': () => verify({ macaroon: token, rootKey, check: met }).verified,
  readToken: () => readToken(text) !== undefined,
  'readToken and signatureMatches': () => {
    const read = readToken(text);
    return read !== undefined && signatureMatches(read, rootKey);
  },
  'verify with one discharge': () => verify({ macaroon: root, rootKey, discharges, check: met }).verified,
};

/** Microseconds a call. */
function timed(subject: () => boolean, calls: number): number {
  const start = process.hrtime.bigint();
  for (let call = 0; call < calls; call += 1) if (!subject()) throw new Error('cannot measure what fails');
  return Number(process.hrtime.bigint() - start) / 1000 / calls;
}

const median = (values: number[]): number => values.toSorted((first, other) => first - other)[values.length >> 1] ?? 0;

// In turn, so that other load of the machine hits all alike; the first rounds only warm up.
const rounds = Array.from({ length: 60 }, () =>
  Object.fromEntries(Object.entries(subjects).map(([name, subject]) => [name, timed(subject, 500)])),
).slice(10);
for (const name of Object.keys(subjects)) {
  const each = median(rounds.map((round) => round[name] ?? 0));
  const ratio = median(rounds.map((round) => (round[name] ?? 0) / (round['bare HMAC chain'] ?? 1)));
  console.log(`${name.padEnd(32)} ${each.toFixed(2).padStart(8)} µs ${ratio.toFixed(2).padStart(6)}`);
}
