// Reads the lists of packages that package managers leave in a file system. Each reader gives undefined for an entry
// that is no component. All input is untrusted and was bounded by the caller; every pass is linear.
import { zstdDecompressSync } from 'node:zlib';

import type { BillComponent, DistributionRelease } from '#domain/vulnerabilities/bill-of-materials.ts';

type Entries = Generator<BillComponent | undefined, void>;

/** `NAME[:ARCHITECTURE]=VERSION`, as in snap/manifest.yaml and dpkg.yaml. */
export function parseStagedPackage(text: unknown): BillComponent | undefined {
  const [, name, architecture, version] =
    (typeof text === 'string' && /^([^:=\s]+)(?::([^:=\s]+))?=(\S+)$/.exec(text)) || [];
  if (name === undefined || version === undefined) return undefined;
  return { ecosystem: 'deb', name, version, ...(architecture !== undefined && { architecture }) };
}

/** The status file of dpkg, or one file of status.d: paragraphs of `Field: value`. */
export function* readDpkgStatus(text: string): Entries {
  for (const fields of paragraphs(text, /^([A-Za-z-]+):[ \t]*(.*)$/)) {
    // A removed package may have left its configuration, but none of its programs.
    if (/ (?:not-installed|config-files)$/.test(fields.get('Status') ?? '')) continue;
    yield dpkgComponent(fields);
  }
}

function dpkgComponent(fields: ReadonlyMap<string, string>): BillComponent | undefined {
  const [name, version] = [fields.get('Package'), fields.get('Version')];
  if (name === undefined || version === undefined) return undefined;
  // `Source: NAME (VERSION)`; the version is left out if it is that of the package.
  const [, source = name, sourceVersion = version] = /^(\S+)(?: \((\S+)\))?$/.exec(fields.get('Source') ?? '') ?? [];
  return {
    ecosystem: 'deb',
    name,
    version,
    ...architectureOf(fields.get('Architecture')),
    ...sourceOf({ name, version }, { name: source, version: sourceVersion }),
  };
}

/** The output of `dpkg --list`, as bases have it in usr/share/snappy/dpkg.list. */
export function* readDpkgList(text: string): Entries {
  for (const line of linesOf(text)) {
    const [state = '', nameText = '', version = '', architecture] = line.split(/\s+/, 4);
    // The second letter is the state of the package: installed, unpacked, half configured, triggers awaited or pending.
    if (!/^[a-z][iUFWt][A-Z]?$/.test(state)) continue;
    const [name = '', own = architecture] = nameText.split(':', 2);
    yield { ecosystem: 'deb', name, version, ...architectureOf(own) };
  }
}

/** Reads lib/apk/db/installed: one paragraph for each package, with lines `LETTER:VALUE`. The letter `o` is the source package. */
export function* readApkInstalled(text: string): Entries {
  for (const fields of paragraphs(text, /^([A-Za-z]):(.*)$/)) {
    const [name, version] = [fields.get('P'), fields.get('V')];
    if (name === undefined || version === undefined) yield undefined;
    else {
      const source = { name: fields.get('o') ?? name, version };
      yield {
        ecosystem: 'apk',
        name,
        version,
        ...architectureOf(fields.get('A')),
        ...sourceOf({ name, version }, source),
      };
    }
  }
}

const maxManifestBytes = 64 << 20;

/** Chisel's manifest: lines of JSON, sorted, compressed with zstd; the first line is its header. */
export function* readChiselManifest(packed: Uint8Array): Entries {
  const bytes = zstdDecompressSync(packed, { maxOutputLength: maxManifestBytes });
  const kind = '{"kind":"package",';
  if (!bytes.subarray(0, 64).toString().startsWith('{"jsonwall":"1.0"')) throw new Error('it is no jsonwall 1.0');
  // Only the lines of packages become text: a line per file of the image is there as well.
  for (let at = bytes.indexOf(`\n${kind}`); at >= 0; at = bytes.indexOf(`\n${kind}`, at)) {
    const end = bytes.indexOf(10, ++at);
    yield chiselComponent(bytes.toString('utf8', at, end < 0 ? bytes.length : end));
  }
}

function chiselComponent(line: string): BillComponent | undefined {
  const { name, version, arch } = JSON.parse(line) as Record<string, unknown>;
  if (typeof name !== 'string' || typeof version !== 'string') return undefined;
  return { ecosystem: 'deb', name, version, ...architectureOf(typeof arch === 'string' ? arch : undefined) };
}

/** The release in os-release(5); undefined if it names none. */
export function readOsRelease(text: string): DistributionRelease | undefined {
  const value = (key: string): string | undefined =>
    new RegExp(`^${key}=(["']?)([A-Za-z0-9._-]{1,64})\\1\\s*$`, 'm').exec(text)?.[2];
  const [id, version] = [value('ID'), value('VERSION_ID')];
  return id === undefined || version === undefined ? undefined : { id, version };
}

const maxRequirement = 500;

/** A line of requirements.txt (PEP 508); undefined for a comment, an option or an address. */
export function parseRequirement(line: string): BillComponent | undefined {
  const requirement = line
    .slice(0, maxRequirement)
    .replace(/(?:^|\s)#.*$/, '')
    .trim();
  const [, name, exact] =
    /^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?:==\s*([A-Za-z0-9.+!-]+)(?=\s*(?:;|\\|--|$)))?/.exec(
      requirement,
    ) ?? [];
  if (name === undefined || requirement.includes('://')) return undefined;
  return { ecosystem: 'pypi', name, version: exact ?? null, requirement };
}

const architectureOf = (architecture: string | undefined) =>
  architecture === undefined || architecture === '' ? {} : { architecture };

const sourceOf = (own: { name: string; version: string }, source: { name: string; version: string }) =>
  own.name === source.name && own.version === source.version ? {} : { source };

/** The lines one by one: a list of millions of short lines would take much more memory than its text. */
function* linesOf(text: string): Generator<string, void> {
  for (let at = 0, end = 0; at < text.length; at = end + 1) {
    end = text.indexOf('\n', at);
    if (end < 0) end = text.length;
    yield text.slice(at, end);
  }
}

/** Paragraphs of fields, separated by empty lines. Lines that do not fit, such as continuations, are skipped. */
function* paragraphs(text: string, field: RegExp): Generator<ReadonlyMap<string, string>, void> {
  let fields = new Map<string, string>();
  for (const line of linesOf(text)) {
    if (line.trim() === '') {
      if (fields.size > 0) yield fields;
      fields = new Map();
      continue;
    }
    const [, name, value] = field.exec(line) ?? [];
    if (name !== undefined && value !== undefined) fields.set(name, value.trim());
  }
  if (fields.size > 0) yield fields;
}
