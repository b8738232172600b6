// Makes the OCI image of larder (image-spec 1.1) as one archive, without a container engine: the C library in one layer, larder in another.
// The same inputs give the same bytes.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** The user of the processes; it has no name on most hosts. */
const user = 65532;

export interface ImageInput {
  version: string;
  commit: string | undefined;
  at: Date;
  platforms: ImagePlatform[];
}

export interface ImagePlatform {
  /** As OCI names it. */
  architecture: 'amd64' | 'arm64';
  /** The libraries of the system, path in the image → file here. */
  libraries: Record<string, string>;
  /** The files of larder, path in the image → file here. */
  program: Record<string, string>;
}

interface TarEntry {
  path: string;
  mode: number;
  content?: Uint8Array;
  owner?: number;
}

type Keep = (content: Buffer | object) => { digest: string; size: number };

/** Returns the archive of an OCI image layout, for `skopeo copy oci-archive:FILE:VERSION …`. */
export function ociImage(input: ImageInput): Buffer {
  const blobs = new Map<string, Buffer>();
  const keep: Keep = (value) => {
    const content = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value));
    const hex = sha256(content);
    blobs.set(`blobs/sha256/${hex}`, content);
    return { digest: `sha256:${hex}`, size: content.length };
  };
  const manifests = input.platforms.map((platform) => imageOf(platform, input, keep));
  const index = keep({ schemaVersion: 2, mediaType: indexType, manifests, annotations: annotationsOf(input) });
  const descriptor = {
    mediaType: indexType,
    ...index,
    annotations: { 'org.opencontainers.image.ref.name': input.version },
  };
  const top = { schemaVersion: 2, mediaType: indexType, manifests: [descriptor] };
  return tar(
    [
      { path: 'oci-layout', mode: 0o644, content: Buffer.from('{"imageLayoutVersion":"1.0.0"}') },
      { path: 'index.json', mode: 0o644, content: Buffer.from(JSON.stringify(top)) },
      ...[...blobs].sort().map(([path, content]) => ({ path, mode: 0o644, content })),
    ],
    input.at,
  );
}

/** Keeps the image for one architecture, and returns its entry in the index. */
function imageOf(platform: ImagePlatform, { version, at, commit }: Omit<ImageInput, 'platforms'>, keep: Keep): object {
  const { architecture } = platform;
  const annotations = annotationsOf({ version, at, commit });
  const created = annotations['org.opencontainers.image.created'];
  const tars = [systemLayer(platform, at), programLayer(platform, at)];
  const config = {
    created,
    architecture,
    os: 'linux',
    config: {
      User: `${String(user)}:${String(user)}`,
      Env: ['PATH=/usr/bin', 'LARDER_DATA=/var/lib/larder', 'MALLOC_ARENA_MAX=1'],
      Entrypoint: ['/usr/bin/larder'],
      Cmd: ['serve'],
      WorkingDir: '/var/lib/larder',
      Volumes: { '/var/lib/larder': {} },
      Labels: annotations,
    },
    rootfs: { type: 'layers', diff_ids: tars.map((layer) => `sha256:${sha256(layer)}`) },
    history: ['libraries of Debian 12', `larder ${version}`].map((step) => ({ created, created_by: step })),
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: manifestType,
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...keep(config) },
    layers: tars.map((layer) => ({ mediaType: layerType, ...keep(gzipSync(layer, { level: 6 })) })),
    annotations,
  };
  return { mediaType: manifestType, ...keep(manifest), platform: { architecture, os: 'linux' } };
}

const annotationsOf = ({ version, at, commit }: Omit<ImageInput, 'platforms'>) => ({
  'org.opencontainers.image.title': 'larder',
  'org.opencontainers.image.version': version,
  'org.opencontainers.image.created': at.toISOString().replace('.000Z', 'Z'),
  'org.opencontainers.image.licenses': 'Apache-2.0',
  ...(commit !== undefined && { 'org.opencontainers.image.revision': commit }),
});

const layerType = 'application/vnd.oci.image.layer.v1.tar+gzip';
const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const indexType = 'application/vnd.oci.image.index.v1+json';

/** The libraries, and what a program expects of a system: a temporary folder, and the name of its user. */
function systemLayer({ libraries }: ImagePlatform, at: Date): Buffer {
  const passwd = `root:x:0:0::/:/nonexistent\nlarder:x:${String(user)}:${String(user)}::/var/lib/larder:/nonexistent\n`;
  const group = `root:x:0:\nlarder:x:${String(user)}:\n`;
  return tar(
    [
      ...filesOf(libraries, 0o755),
      { path: 'etc/passwd', mode: 0o644, content: Buffer.from(passwd) },
      { path: 'etc/group', mode: 0o644, content: Buffer.from(group) },
      { path: 'tmp/', mode: 0o1777 },
    ],
    at,
  );
}

const programLayer = ({ program }: ImagePlatform, at: Date): Buffer =>
  tar([...filesOf(program, 0o755), { path: 'var/lib/larder/', mode: 0o700, owner: user }], at);

const filesOf = (files: Record<string, string>, mode: number): TarEntry[] =>
  Object.entries(files).map(([path, file]) => ({ path, mode, content: readFileSync(file) }));

/** A tar archive with the folders of each entry before it. */
function tar(entries: readonly TarEntry[], at: Date): Buffer {
  const folders = new Set<string>();
  const pieces = entries
    .flatMap((entry): TarEntry[] => {
      const parents = [...entry.path.matchAll(/\//g)].map(({ index }) => entry.path.slice(0, index + 1));
      const missing = parents.filter((path) => path !== entry.path && !folders.has(path));
      for (const path of [...missing, entry.path]) folders.add(path);
      return [...missing.map((path) => ({ path, mode: 0o755 })), entry];
    })
    .flatMap((entry) => {
      const content = entry.content ?? Buffer.alloc(0);
      return [header(entry, content.length, at), content, Buffer.alloc(-content.length & 511)];
    });
  return Buffer.concat([...pieces, Buffer.alloc(1024)]);
}

/** A header in the format of POSIX.1-1988 (ustar). */
function header({ path, mode, owner = 0 }: TarEntry, size: number, at: Date): Buffer {
  const head = Buffer.alloc(512);
  const octal = (value: number, offset: number, length: number): number =>
    head.write(`${value.toString(8).padStart(length - 1, '0')}\0`, offset, length, 'latin1');
  if (Buffer.byteLength(path) > 100) throw new Error(`cannot pack ${path}: its name is too long`);
  head.write(path, 0, 100);
  octal(mode, 100, 8);
  octal(owner, 108, 8);
  octal(owner, 116, 8);
  octal(size, 124, 12);
  octal(Math.floor(at.getTime() / 1000), 136, 12);
  head.write(' '.repeat(8), 148);
  head.write(path.endsWith('/') ? '5' : '0', 156);
  head.write('ustar\0'.concat('00'), 257, 8, 'latin1');
  octal(
    head.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return head;
}

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** The libraries that the runtime is linked with, as Debian 12 has them here; arm64 on amd64 takes those of the cross compiler. */
export function systemLibraries(architecture: 'amd64' | 'arm64'): Record<string, string> {
  const triplet = { amd64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }[architecture];
  const loader = { amd64: 'ld-linux-x86-64.so.2', arm64: 'ld-linux-aarch64.so.1' }[architecture];
  const isOwn = architecture === { x64: 'amd64', arm64: 'arm64' }[process.arch as string];
  const from = isOwn ? `/lib/${triplet}` : `/usr/${triplet}/lib`;
  const place = { amd64: 'lib64', arm64: 'lib' }[architecture];
  const names = ['libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0', 'libgcc_s.so.1', 'libstdc++.so.6'];
  return {
    [`${place}/${loader}`]: `${from}/${loader}`,
    ...Object.fromEntries(names.map((name) => [`lib/${triplet}/${name}`, `${from}/${name}`])),
  };
}
