// The vectors: assertions made and verified with the library of snapd, and the throw-away keys for them.
import { createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeSignature, signedBytes } from '#assertions/format/openpgp.ts';
import type { Signer } from '#assertions/keys/signer.ts';

interface VectorKey {
  name: string;
  bits: number;
  'encoded-public-key': string;
  'public-key-packet-hex': string;
  'public-key-sha3-384': string;
  'openpgp-v4-fingerprint': string;
  'private-key-pkcs8-der-base64': string;
}

interface ValidRequest {
  name: string;
  key: string;
  headers: Record<string, string>;
  'signature-created': number;
  'signed-content': string;
  'encoded-signature': string;
  assertion: string;
}

interface EdgeCase {
  name: string;
  note?: string;
  assertion?: string;
  'assertion-base64'?: string;
  'snapd-accepts': boolean;
}

export interface Step {
  name: string;
  'already-imported': string[] | null;
  assertion: string;
  ok: boolean;
  error?: string;
}

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../fixtures/assertions', name), 'utf8'));

export const requests = fixture('account-key-requests.json') as {
  keys: VectorKey[];
  valid: ValidRequest[];
  'edge-cases': EdgeCase[];
};

export const chain = fixture('account-key-chain.json') as {
  trusted: string[];
  assertions: Record<string, string>;
  steps: Step[];
};

/** The text of an edge case; some are no UTF-8 or hold CR LF and are kept as base64. */
export const bytesOf = (edge: EdgeCase): Buffer =>
  edge['assertion-base64'] === undefined
    ? Buffer.from(edge.assertion ?? '')
    : Buffer.from(edge['assertion-base64'], 'base64');

export function vectorKey(name: string): { id: string; privateKey: KeyObject; publicKey: KeyObject; encoded: string } {
  const key = requests.keys.find((candidate) => candidate.name === name);
  if (key === undefined) throw new Error(`cannot find the key ${name} among the vectors`);
  const der = Buffer.from(key['private-key-pkcs8-der-base64'], 'base64');
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return {
    id: key['public-key-sha3-384'],
    privateKey,
    publicKey: createPublicKey(privateKey),
    encoded: key['encoded-public-key'],
  };
}

/** A signer with the given keys. */
export function signerOf(keys: readonly { id: string; privateKey: KeyObject }[]): Signer {
  const find = (id: string): KeyObject => {
    const key = keys.find((candidate) => candidate.id === id);
    if (key === undefined) throw new Error(`cannot find the key ${id}`);
    return key.privateKey;
  };
  return {
    publicKey: (id) => Promise.resolve(createPublicKey(find(id))),
    sign: (id, content, at) =>
      Promise.resolve(encodeSignature(content, at, sign('sha512', signedBytes(content, at), find(id)))),
  };
}

export const vectorSigner = (): Signer => signerOf(requests.keys.map((key) => vectorKey(key.name)));
