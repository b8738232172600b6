// A source with three keys and two required signatures, and its files: identities, rotations, transfers.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { TransferPackage } from '#contract/wire.ts';
import { toCanonicalText } from '#domain/canonical-json.ts';
import { folder } from '#test/cli/process.ts';
import { offered, snapOf } from '#test/fixtures/packages/online-store.ts';
import { serializeSignatures, mergeSignatures } from '#transfers/statement/signatures.ts';
import type { SigningSeed } from '#transfers/statement/site-keys.ts';
import { idOf } from '#transfers/statement/statement.ts';
import { fingerprintOf } from '#transfers/site.ts';
import { example, goodNow, helloWith, seedOf, signatureOf, written } from './statement/example.ts';

type Test = Parameters<typeof folder>[0];

export const [first, second, third] = [seedOf(1), seedOf(2), seedOf(3)];
export const thief = seedOf(4);

/** The command that trusts a source with these keys, by their fingerprints. */
export function trustCommand(t: Test, { site = 'depot', keys = [first, second, third], threshold = 2 } = {}): string {
  const file = join(folder(t), `${site}.json`);
  const publicKeys = keys.map((key) => key.publicKey);
  writeFileSync(file, JSON.stringify({ format: 1, site, keys: publicKeys, threshold }));
  return `site trust ${file} ${fingerprintOf(publicKeys)
    .map((fingerprint) => `--fingerprint ${fingerprint}`)
    .join(' ')}`;
}

/** The command that takes the statement of a rotation which these keys have signed. */
export function rotateCommand(
  t: Test,
  {
    rotation = 1,
    keys,
    threshold = 1,
    by: signers,
  }: { rotation?: number; keys: SigningSeed[]; threshold?: number; by: SigningSeed[] },
): string {
  const file = join(folder(t), 'rotated.json');
  const fields = { format: 1, site: 'depot', rotation, keys: keys.map((key) => key.publicKey), threshold };
  const type = 'application/vnd.larder.rotation.v1+json';
  const payload = Buffer.from(toCanonicalText(fields));
  const signatures = signers.map((seed) => signatureOf(payload, seed, type));
  writeFileSync(file, JSON.stringify({ payloadType: type, payload: payload.toString('base64'), signatures }));
  return `site trust ${file}`;
}

/** A transfer of the source with a snap in so many revisions, the newest in stable; its file, and its id. */
export async function sent(
  t: Test,
  {
    sequence,
    revisions = [1],
    by: signers = [first, second],
    more = {},
    source = 'depot',
  }: { sequence: number; revisions?: number[]; by?: SigningSeed[]; more?: Partial<TransferPackage>; source?: string },
): Promise<{ part: string; id: string }> {
  const files = revisions.map((revision) => snapOf(offered('hello-on', revision)));
  const hello = helloWith(files);
  const newest = revisions.at(-1) ?? 1;
  const numbered = hello.revisions.map((revision, at) => ({ ...revision, revision: revisions[at] ?? 1 }));
  const channel = { channel: 'latest/stable', slot: 'amd64', architecture: 'amd64' as const, revision: newest };
  const channels = [{ ...channel, 'released-at': new Date().toISOString() }];
  const packageEntry = { ...hello, name: 'hello-on', id: 'h'.repeat(32), revisions: numbered, channels, ...more };
  const transfer = example(files, { source, ...goodNow(), sequence, packages: [packageEntry] });
  const lists = signers.map((signer) => [signatureOf(transfer.bytes, signer)]);
  const [part = ''] = await written(
    { ...transfer, signatures: serializeSignatures(mergeSignatures(lists)) },
    folder(t),
  );
  return { part, id: idOf(transfer.bytes) };
}
