// Writes the folder of a release: its files, the manifest over them, and the signatures of the manifest.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { LarderReleaseManifest } from '#contract/wire.ts';
import { toCanonicalText } from '#domain/canonical-json.ts';
import {
  filesOfRelease,
  manifestFile,
  rotationFile,
  signaturesFile,
  sshSignatureFile,
} from '#transfers/larder-release/manifest.ts';
import { proveManifest, type ReleaseSigner } from './release-signer.ts';

export interface ReleaseContent {
  version: string;
  commit: string | undefined;
  at: Date;
  /** Name in the release → file here, or content. */
  files: Map<string, { from: string } | Buffer>;
  /** The statements of all rotations of the release keys, in order. */
  rotations?: readonly string[];
}

/** Writes a new folder. The provenance is made last, by `provenanceOf`, because it lists the other files. */
export function writeRelease(
  folder: string,
  { version, commit, at, files, rotations = [] }: ReleaseContent,
  signer: ReleaseSigner,
  provenanceOf: (subjects: LarderReleaseManifest['files']) => string,
): LarderReleaseManifest {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, content: string | Buffer): void =>
    writeFileSync(join(folder, name), content, { flag: 'wx' });
  const describe = (name: string): LarderReleaseManifest['files'][number] => {
    const content = readFileSync(join(folder, name));
    return { name, size: content.length, sha256: createHash('sha256').update(content).digest('hex') };
  };
  for (const [name, content] of files) {
    if (Buffer.isBuffer(content)) write(name, content);
    else copyFileSync(content.from, join(folder, name));
  }
  write(`larder-${version}.intoto.json`, provenanceOf([...files.keys()].sort().map(describe)));
  const manifest: LarderReleaseManifest = {
    format: 1,
    version,
    ...(commit !== undefined && { commit }),
    released: at.toISOString().slice(0, 10),
    files: filesOfRelease(version).sort().map(describe),
  };
  const proof = proveManifest(toCanonicalText(manifest), signer);
  write(manifestFile, proof.manifest);
  write(sshSignatureFile, proof.sshSignature);
  write(signaturesFile, proof.signatures);
  for (const [index, text] of rotations.entries()) write(rotationFile(index + 1), text);
  return manifest;
}
