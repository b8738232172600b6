// Transfers that were never in a store: a statement about bytes that the test knows.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { TransferBlob, TransferContent, TransferPackage, TransferStatement } from '#contract/wire.ts';
import { StatementFileIndex } from '#transfers/parts/artifacts.ts';
import { cutIntoParts } from '#transfers/parts/cut-into-parts.ts';
import { membersOf, type Transfer } from '#transfers/parts/members.ts';
import { encodePae, serializeSignatures } from '#transfers/statement/signatures.ts';
import { keyIdOf, SigningSeed } from '#transfers/statement/site-keys.ts';
import { writeStatement } from '#transfers/statement/statement.ts';
import { generatePartBytes, type TransferContentReader } from '#transfers/parts/part-bytes.ts';

export const digest = (algorithm: string, bytes: Uint8Array): string =>
  createHash(algorithm).update(bytes).digest('hex');

export const contentOf = (bytes: Uint8Array): TransferContent => ({
  sha256: digest('sha256', bytes),
  'sha3-384': digest('sha3-384', bytes),
  size: bytes.length,
});

/** A snap with a revision for each of some contents. */
export function helloWith(files: readonly Uint8Array[]): TransferPackage {
  return {
    id: 'hello-id',
    namespace: 'snap',
    name: 'hello',
    type: 'snap',
    publisher: 'ada',
    private: false,
    tracks: ['latest'],
    withdrawn: [],
    revisions: files.map((bytes, at) => ({
      revision: at + 1,
      content: contentOf(bytes),
      version: `1.${String(at)}`,
      'created-at': '2026-01-01T00:00:00Z',
      'created-by': 'ada',
    })),
    resources: [],
    images: [],
    channels: [],
    closed: [],
  };
}

export interface Example extends Transfer {
  files: Uint8Array[];
  seed: SigningSeed;
}

export const seedOf = (number: number): SigningSeed => new SigningSeed(Buffer.alloc(32, number));

/** The signature of one key. */
export const signatureOf = (bytes: Uint8Array, seed: SigningSeed, type?: string) => ({
  keyid: keyIdOf(seed.publicKey),
  sig: seed.sign(encodePae(bytes, type)).toString('base64'),
});

/** Made now, and good for eleven days more. */
export const goodNow = (): Pick<TransferStatement, 'created' | 'expires'> => ({
  created: new Date().toISOString(),
  expires: new Date(Date.now() + 1e9).toISOString(),
});

/** A transfer of these files, signed by one key. */
export function example(
  files: Uint8Array[],
  {
    partSize,
    seed = seedOf(1),
    ...overrides
  }: Partial<TransferStatement> & { partSize?: number; seed?: SigningSeed } = {},
): Example {
  const blobs: TransferBlob[] = files.map((bytes) => ({ ...contentOf(bytes), 'media-type': 'application/x-snap' }));
  const whole: Omit<TransferStatement, 'parts'> = {
    format: 1,
    source: 'depot',
    sequence: 1,
    for: [],
    created: '2026-05-01T12:00:00Z',
    expires: '2026-10-28T12:00:00Z',
    base: { kind: 'none' },
    accounts: [{ id: 'ada', username: 'ada', 'display-name': 'Ada', validation: 'verified' }],
    assertions: [],
    packages: [helloWith(files)],
    blobs,
    'left-out': [],
    ...overrides,
  };
  const parts = cutIntoParts(whole, partSize).map((cuts) =>
    cuts.map((cut) => {
      const bytes = files[cut.blob]!.subarray(cut.offset, cut.offset + cut.size);
      return { ...cut, sha256: digest('sha256', bytes) };
    }),
  );
  const statement: TransferStatement = { ...whole, parts };
  const bytes = writeStatement(statement);
  return { bytes, statement, signatures: serializeSignatures([signatureOf(bytes, seed)]), files, seed };
}

export const contentIn = ({ files, statement }: Example): TransferContentReader =>
  async function* (blob, offset, size) {
    const at = [...statement.blobs].findIndex(({ sha256 }) => sha256 === blob.sha256);
    yield files[at]!.subarray(offset, offset + size);
  };

export async function partBytes(transfer: Example, part = 1): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const members = membersOf(transfer, part, new StatementFileIndex(transfer.statement));
  for await (const bytes of generatePartBytes(transfer, members, contentIn(transfer))) chunks.push(bytes);
  return Buffer.concat(chunks);
}

/** Writes all parts; their files. */
export async function written(transfer: Example, folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const [at] of transfer.statement.parts.entries()) {
    const file = join(folder, `part-${String(at + 1)}.tar`);
    writeFileSync(file, await partBytes(transfer, at + 1));
    files.push(file);
  }
  return files;
}
