// Checks the text of a configuration file. Problems from the parser, the schema and our own rules become sentences with line numbers.
import { isIP } from 'node:net';
import { parse, TomlDate, TomlError } from 'smol-toml';
import { validateConfig } from '#contract/config-validator.ts';
import {
  readReleaseRule,
  readRule,
  readVulnerabilityRule,
  scopeOf,
  singleKinds,
  type ReleaseRule,
} from '#domain/approvals/approval-policy.ts';
import { isAccountId } from '#domain/ids.ts';
import { nameProblem } from '#domain/packages/package-name.ts';
import { bucketProblem, parseBucketAddress } from '#contract/bucket-address.ts';
import { parseAddress } from '#contract/postgres-address.ts';
import { nearest } from '#domain/nearest.ts';
import type { ConfigProblem } from './config-error.ts';
import { tomlValue, type ConfigValue } from './edit.ts';
import { brokenIdentity } from './identity-rules.ts';
import { findKey, sections, type ConfigKey } from './keys.ts';
import { entries, entryOf, findRepeatedEntry } from './toml-text.ts';

type ConfigPath = readonly (string | number)[];

/** Returns the values as written, without defaults and with sizes as text, and their problems. */
export function checkText(text: string): { values: unknown; problems: ConfigProblem[] } {
  let parsed: unknown;
  try {
    parsed = parse(text, { maxDepth: 16 });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { values: undefined, problems: [syntaxProblem(text, error)] };
  }
  const values = withoutDates(parsed);
  const all = [...entries(text)];
  const pathProblems = placed(shapeProblems(values), values).map(({ path, keyword }) => ({
    path,
    message:
      keyword === 'additionalProperties' ? unknownKey(path, at(values, path)) : wrongValue(path, at(values, path)),
  }));
  pathProblems.push(
    ...brokenRules(
      values,
      pathProblems.map(({ path }) => path),
    ),
  );
  const standing = pathProblems.map(({ path, message }) => ({ entry: entryOf(all, path), message }));
  standing.sort((problem, other) => problem.entry.from - other.entry.from);
  return { values, problems: standing.map(({ entry, message }) => ({ line: entry.line, message })) };
}

function syntaxProblem(text: string, error: TomlError): ConfigProblem {
  const [first = ''] = error.message.split('\n');
  const twice = first.includes('redefine an already defined') ? findRepeatedEntry(text) : undefined;
  if (twice) {
    const { kind, path } = twice.again;
    const name = kind === 'section' ? `[${brief(shown(path))}]` : `'${brief(shown(path))}'`;
    return { line: twice.again.line, message: `${name} is already set on line ${String(twice.first.line)}` };
  }
  // Only the first line: the rest quotes the file, which may contain a secret.
  const message = first.replace(/^Invalid TOML document: /, '');
  return { line: error.line, column: error.column, message: message + exampleFor(text, error.line) };
}

/** An example of the line, from its key. */
function exampleFor(text: string, line: number): string {
  const lines = text.split('\n').slice(0, line);
  const key = /^[ \t]*([\w-]+)(?:\.([\w-]+))?[ \t]*=/.exec(lines.at(-1) ?? '');
  if (key === null) return '; a line is a section such as [http], or a key and its value such as metrics = true';
  const section = lines.findLast((each) => /^[ \t]*\[/.test(each));
  const [, inSection = ''] = /^[ \t]*\[[ \t]*([\w.-]+)/.exec(section ?? '') ?? [];
  const [, first = '', second] = key;
  const name = second === undefined ? `${inSection === '' ? '' : `${inSection}.`}${first}` : `${first}.${second}`;
  const configKey = findKey(name);
  if (configKey === undefined) return `; there is no setting '${brief(name)}'`;
  const example = tomlValue((configKey.example ?? configKey.default) as ConfigValue);
  return `; ${name} is ${configKey.expected}, as in: ${second === undefined ? first : name} = ${example}`;
}

/** Replaces dates, which are objects and would pass as tables in the schema, with null: no key accepts a date, and TOML has no null. */
function withoutDates(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof TomlDate) return null;
  if (Array.isArray(value)) return value.map(withoutDates);
  // Without a prototype, so that a key called __proto__ stays a key.
  const table = Object.create(null) as Record<string, unknown>;
  for (const [name, member] of Object.entries(value)) table[name] = withoutDates(member);
  return table;
}

/** Every place with another shape than the schema of the configuration; finds them without ajv, which would compile the schema first. */
const shapeProblems = (values: unknown) => (validateConfig(values) ? [] : (validateConfig.errors ?? []));

/** The problems of the schema by key, one for each, the innermost. */
function placed(
  complaints: ReturnType<typeof shapeProblems>,
  values: unknown,
): { path: ConfigPath; keyword: string }[] {
  const byPath = new Map<string, { path: ConfigPath; keyword: string }>();
  for (const { instancePath, keyword, params } of complaints) {
    const names = instancePath.split('/').slice(1);
    const path = names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (keyword === 'additionalProperties') path.push(String(params['additionalProperty']));
    byPath.set(JSON.stringify(path), { path, keyword });
  }
  const all = [...byPath.values()];
  const inside = (inner: ConfigPath, outer: ConfigPath) =>
    inner.length > outer.length && outer.every((name, index) => name === inner[index]);
  // If `anyOf` allows a text or a list of texts, a list with a wrong member fails three times; the member is the problem.
  return all
    .filter(({ path }) => !all.some((other) => inside(other.path, path)))
    .map(({ path, keyword }) => ({
      path: path.map((name, index) => (Array.isArray(at(values, path.slice(0, index))) ? Number(name) : name)),
      keyword,
    }));
}

/** The innermost section around a path, the name of its key, and the position in the list of that key. */
function locate(path: ConfigPath): { section: string; key?: string | undefined; member?: string | number | undefined } {
  for (let length = path.length; length > 0; length--) {
    const section = path.slice(0, length).join('.');
    if (sections().has(section)) return { section, key: path[length]?.toString(), member: path[length + 1] };
  }
  return { section: String(path[0]) };
}

function unknownKey(path: ConfigPath, value: unknown): string {
  const { section, key } = locate(path);
  const allSections = sections();
  if (key === undefined) {
    const owner = [...allSections].find(([, { keys }]) => keys.has(section))?.[0];
    if (owner !== undefined) return `'${section}' is outside its section; it belongs in [${owner}]`;
    if (typeof value !== 'object') return `unknown key '${brief(section)}' outside any section`;
    return `unknown section [${brief(section)}]${suggestion(nearest(section, allSections.keys()), '[', ']')}`;
  }
  const keys = allSections.get(section)?.keys ?? new Map<string, ConfigKey>();
  const message = `unknown key '${brief(key)}' in [${section}]`;
  const meant = nearest(key, keys.keys());
  const owners = [...allSections].filter(([, { keys }]) => keys.has(key)).map(([name]) => name);
  // Rather a section itself than one within another.
  const owner = owners.find((name) => !name.includes('.')) ?? owners[0];
  return meant === undefined && owner !== undefined
    ? `${message}; it belongs in [${owner}]`
    : message + suggestion(meant, "'", "'");
}

const suggestion = (word: string | undefined, open: string, close: string) =>
  word === undefined ? '' : `; did you mean ${open}${word}${close}?`;

function wrongValue(path: ConfigPath, value: unknown): string {
  const { section, key: name, member } = locate(path);
  if (name === undefined) return `expected a section [${section}], got ${described(value)}`;
  const key = findKey(`${section}.${name}`);
  if (!key) throw new Error(`cannot say what ${shown(path)} should be`);
  const expected = (member === undefined ? undefined : key.expectedMember) ?? key.expected;
  const got = key.secret ? '' : `, got ${described(value)}`;
  const meant = typeof value === 'string' ? suggestion(likely(path, key, value), '"', '"') : '';
  return `${shown(path)}: expected ${expected}${got}${meant}`;
}

/** A guess of the intended value. */
function likely(path: ConfigPath, key: ConfigKey, value: string): string | undefined {
  if (shown(path) !== 'http.base_url') return nearest(value, key.words);
  const url = URL.parse(value);
  return url && /^https?:$/.test(url.protocol) && isBaseUrl(url.origin) ? url.origin : undefined;
}

/** A value as a message may show it: short, on one line, and hidden if it looks like an address with a password. */
function described(value: unknown): string {
  if (typeof value === 'string') {
    return value.length > 80 || value.includes('@')
      ? `text of ${String(value.length)} characters`
      : JSON.stringify(value);
  }
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === null) return 'a date or time';
  return Array.isArray(value) ? 'a list' : 'a table';
}

const brief = (name: string) => JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name).slice(1, -1);

/** `store.id`, and `names.reserved[3]` for its third member. */
const shown = (path: ConfigPath) =>
  path
    .map((name, index) => {
      if (typeof name === 'number') return `[${String(name + 1)}]`;
      return `${index > 0 ? '.' : ''}${/^[\w-]*$/.test(name) ? name : `"${brief(name)}"`}`;
    })
    .join('');

const isRule = (text: string): boolean => readRule(text) !== undefined;

/** The rules that a pattern cannot express. */
const rules: Readonly<Record<string, (value: string) => boolean>> = {
  'auth.store_admin_id': isAccountId,
  'http.base_url': isBaseUrl,
  'http.listen': isListenAddress,
  'http.trusted_proxies': isNetwork,
  'http.monitors': isNetwork,
  'limits.known_networks': isNetwork,
  'tls.names': (name) => isIP(name) !== 0 || (!name.includes(':') && isHost(name)),
  'registry.external': isRegistryHost,
  'identity.oidc.issuer': isIssuer,
  'identity.certificates.listen': isListenAddress,
  'identity.oidc.hosts': isProviderHost,
  ...Object.fromEntries(singleKinds.map((kind) => [`approvals.${kind}`, isRule])),
  'approvals.releases': (rule) => readReleaseRule(rule) !== undefined,
  'approvals.vulnerabilities': (rule) => readVulnerabilityRule(rule) !== undefined,
  'names.reserved': (name) => nameProblem(name) === undefined,
};

function brokenRules(values: unknown, alreadyWrong: readonly ConfigPath[]): { path: ConfigPath; message: string }[] {
  const broken: { path: ConfigPath; message: string }[] = [];
  for (const [name, holds] of Object.entries(rules)) {
    const path = name.split('.');
    const value = at(values, path);
    const candidates: [ConfigPath, unknown][] = Array.isArray(value)
      ? value.map((member, index): [ConfigPath, unknown] => [[...path, index], member])
      : [[path, value]];
    for (const [place, candidate] of candidates) {
      const isReported = alreadyWrong.some((wrong) => wrong.every((step, index) => step === place[index]));
      if (isReported || typeof candidate !== 'string' || holds(candidate)) continue;
      broken.push({ path: place, message: wrongValue(place, candidate) });
    }
  }
  const [certificate, key] = [at(values, ['tls', 'certificate_file']), at(values, ['tls', 'key_file'])];
  // A misspelt key has been reported already.
  if ((certificate === undefined) !== (key === undefined) && !alreadyWrong.some(([section]) => section === 'tls')) {
    const path = ['tls', certificate === undefined ? 'key_file' : 'certificate_file'];
    broken.push({ path, message: 'tls.certificate_file and tls.key_file belong together: set both or neither' });
  }
  if (at(values, ['tls', 'authority_file']) !== undefined && certificate === undefined) {
    const message = "tls.authority_file is the authority of the site's certificate: set tls.certificate_file too";
    broken.push({ path: ['tls', 'authority_file'], message });
  }
  broken.push(...repeatedRules(values, 'releases', readReleaseRule));
  broken.push(...repeatedRules(values, 'vulnerabilities', readVulnerabilityRule));
  broken.push(...brokenRecords(values, alreadyWrong), ...brokenBlobs(values, alreadyWrong));
  broken.push(...brokenIdentity(values, alreadyWrong), ...brokenBackup(values, alreadyWrong));
  const [label, levels] = [at(values, ['site', 'label']), at(values, ['site', 'levels']) ?? []];
  const isListed = Array.isArray(levels) && levels.includes(label);
  if (label !== undefined && !isListed && !alreadyWrong.some(([section]) => section === 'site')) {
    const message = `site.label: expected one of site.levels, which names them from the lowest to the highest, got ${described(label)}`;
    broken.push({ path: ['site', 'label'], message });
  }
  return broken;
}

/** Rules about the same channels of the same packages: it would be unclear which of them applies. */
function* repeatedRules(
  values: unknown,
  key: 'releases' | 'vulnerabilities',
  read: (text: string) => ReleaseRule | undefined,
): Generator<{ path: ConfigPath; message: string }> {
  const rules = at(values, ['approvals', key]);
  if (!Array.isArray(rules)) return;
  const seen = new Set<string>();
  for (const [index, text] of rules.entries()) {
    const rule = typeof text === 'string' ? read(text) : undefined;
    if (rule === undefined) continue;
    const about = scopeOf(rule);
    if (seen.has(about)) {
      const message = `approvals.${key}: expected one rule for ${about}, got a second one (${described(text)}); write one rule with all conditions`;
      yield { path: ['approvals', key, index], message };
    }
    seen.add(about);
  }
}

/** The problems of the database address; does not repeat the address, which may contain a password. */
function* brokenRecords(
  values: unknown,
  alreadyWrong: readonly ConfigPath[],
): Generator<{ path: ConfigPath; message: string }> {
  if (alreadyWrong.some(([section]) => section === 'records')) return;
  const [path, file] = [
    ['records', 'postgres'],
    ['records', 'password_file'],
  ];
  const address = at(values, path);
  if (typeof address === 'string') {
    const read = parseAddress(address);
    const secret =
      'it contains a password; write the password into its own file, and name that file in records.password_file';
    const problem = 'wrong' in read ? read.wrong : read.password === undefined ? undefined : secret;
    if (problem !== undefined) yield { path, message: `records.postgres: ${problem}` };
  } else if (at(values, file) !== undefined) {
    yield { path: file, message: 'records.password_file is the password for records.postgres: set that too' };
  }
}

/** The problems of the blob address; does not repeat the address, which may contain a password. */
function* brokenBlobs(
  values: unknown,
  alreadyWrong: readonly ConfigPath[],
): Generator<{ path: ConfigPath; message: string }> {
  if (alreadyWrong.some(([section]) => section === 'blobs')) return;
  const path = ['blobs', 's3'];
  const address = at(values, path);
  if (typeof address === 'string') {
    const problem = bucketProblem(address);
    if (problem !== undefined) yield { path, message: `blobs.s3: it ${problem}` };
    if (at(values, ['blobs', 'credentials_file']) === undefined) {
      yield {
        path,
        message: 'blobs.s3 needs a name and a secret that the server knows: set blobs.credentials_file too',
      };
    }
    return;
  }
  for (const key of ['credentials_file', 'authority_file', 'redirect_downloads']) {
    if ([undefined, false].includes(at(values, ['blobs', key]) as undefined)) continue;
    yield { path: ['blobs', key], message: `blobs.${key} is for the server of blobs.s3: set that too` };
  }
}

/** The problems of the bucket for backups. */
function* brokenBackup(
  values: unknown,
  alreadyWrong: readonly ConfigPath[],
): Generator<{ path: ConfigPath; message: string }> {
  if (alreadyWrong.some(([section]) => section === 'backup' || section === 'blobs')) return;
  const path = ['backup', 'bucket'];
  const [bucket, address] = [at(values, path), at(values, ['blobs', 's3'])];
  if (typeof bucket !== 'string') return;
  if (typeof address !== 'string')
    yield {
      path,
      message: 'backup.bucket is on the server of blobs.s3: set that too, or name a folder in backup.folder',
    };
  else if (at(values, ['backup', 'folder']) !== undefined)
    yield { path, message: 'backup.bucket and backup.folder are two places for the same backups: set one of them' };
  else if (bucketProblem(address) === undefined && parseBucketAddress(address).bucket === bucket.split('/')[0])
    yield { path, message: 'backup.bucket: expected another bucket than that of blobs.s3, which can be lost with it' };
}

function at(values: unknown, path: ConfigPath): unknown {
  let value = values;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string | number, unknown>)[name];
  }
  return value;
}

/** Whether a browser writes the address in the same way, so that it can be compared as text. */
export function isBaseUrl(value: string): boolean {
  const url = URL.parse(value);
  return url?.origin === value && isHost(url.hostname) && url.port !== '0';
}

/** HOST:PORT; port 0 means any free port. */
export function isListenAddress(value: string): boolean {
  const [, host = '', port = ''] = /^(.+):([0-9]{1,5})$/.exec(value) ?? [];
  return isHost(host) && Number(port) <= 65535;
}

/** Whether the host can begin an image name: clients take a word without a dot or port for a name in the public registry. */
function isRegistryHost(value: string): boolean {
  if (!/[.:]/.test(value) && value !== 'localhost') return false;
  const [, host = '', port = '1'] = /^(.+?)(?::([0-9]{1,5}))?$/.exec(value) ?? [];
  return isHost(host) && Number(port) > 0 && Number(port) <= 65535;
}

/** Whether it is written as an issuer compares: OpenID Connect Discovery 1.0 section 4.3 allows no other spelling. */
function isIssuer(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && [value, `${value}/`].includes(url.href) && url.username === '' && isHost(url.hostname);
}

/** HOST or HOST:PORT of https addresses, as a browser writes it. */
function isProviderHost(value: string): boolean {
  return URL.parse(`https://${value}`)?.host === value;
}

/** A name, an IPv4 address, or an IPv6 address in brackets. */
function isHost(host: string): boolean {
  if (host.startsWith('[')) return host.endsWith(']') && isIP(host.slice(1, -1)) === 6;
  if (/^[0-9.]+$/.test(host)) return isIP(host) === 4;
  return host.length <= 253 && host.split('.').every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
}

function isNetwork(value: string): boolean {
  const [address = '', prefix = '0'] = value.split('/');
  const version = isIP(address);
  return version !== 0 && Number(prefix) <= (version === 4 ? 32 : 128);
}
