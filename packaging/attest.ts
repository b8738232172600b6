// The statements beside a release: where it was built from (in-toto Statement 1, SLSA provenance 1), and which known vulnerabilities
// concern it (OpenVEX 0.2.0).
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { LarderReleaseManifest } from '#contract/wire.ts';
import { root } from './bundle.ts';

interface Built {
  version: string;
  commit: string | undefined;
  at: Date;
}

const readSource = (path: string): string => readFileSync(join(root, path), 'utf8');
const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex');
const pretty = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** The provenance of built files. It names the commit, the locked packages and the runtime, and nothing of the machine. */
export function provenance({ version, commit, at }: Built, subjects: LarderReleaseManifest['files']): string {
  const runtimes = ['x64', 'arm64'].map((arch) => `node-linux-${arch}@${process.version.slice(1)}`);
  return pretty({
    _type: 'https://in-toto.io/Statement/v1',
    subject: subjects.map(({ name, sha256: digest }) => ({ name, digest: { sha256: digest } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:larder:build:npm-release:v1',
        externalParameters: { version, ...(commit !== undefined && { commit }) },
        internalParameters: { command: 'npm run build:release', node: process.version },
        resolvedDependencies: [
          ...(commit === undefined ? [] : [{ name: 'sources', digest: { gitCommit: commit } }]),
          { name: 'package-lock.json', digest: { sha256: sha256(readSource('package-lock.json')) } },
          ...runtimes.map((name) => ({ name, uri: `pkg:npm/${name}` })),
        ],
      },
      runDetails: {
        builder: { id: 'urn:larder:builder:release-manager' },
        metadata: { invocationId: `larder-${version}`, finishedOn: at.toISOString() },
      },
    },
  });
}

/** The vulnerabilities of components that do not affect larder, and those that a release fixes: `packaging/vex.json`. */
export function vexDocument({ version, at }: Built): string {
  const statements = (JSON.parse(readSource('packaging/vex.json')) as { statements: object[] }).statements;
  const products = [{ '@id': `pkg:generic/larder@${version}` }];
  const document = {
    '@context': 'https://openvex.dev/ns/v0.2.0',
    author: 'The larder authors',
    role: 'Document Creator',
    timestamp: at.toISOString(),
    version: 1,
    statements: statements.map((statement) => ({ products, ...statement })),
  };
  return pretty({ '@id': `urn:larder:vex:${sha256(JSON.stringify(document))}`, ...document });
}
