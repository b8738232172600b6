// The configuration: one TOML file, `larder.toml` in the data directory, with the shape of schemas/config.json. Reads it with defaults,
// reports problems with file and line, and changes it in place.
import { computeDigest } from '#domain/cryptography.ts';
import { closeSync, fstatSync, openSync, readFileSync, readSync, realpathSync } from 'node:fs';
import type {
  CertificatesConfig,
  Config as ConfigFile,
  IntegrityConfig,
  OidcConfig,
  QuotasConfig,
  UploadsConfig,
} from '#contract/wire.ts';
import { checkText } from './check.ts';
import { ConfigError, type ConfigProblem } from './config-error.ts';
import { edit, type ConfigValue } from './edit.ts';
import { findKey, putSection, sections, splitName, valuesIn } from './keys.ts';
import { render } from './render.ts';
import { parseByteSize } from './byte-sizes.ts';
import type { SiteLabels } from '#domain/sites/site-label.ts';
import { prepareFile, type PreparedFile } from '#files/durable.ts';
import { describeSystemError } from '#platform/system-errors.ts';

export { ConfigError, type ConfigProblem };
/** The description of all keys, for commands and pages that show them. */
export { isDefault, sections as configurationSections, valuesIn, type ConfigKey as ConfigurationKey } from './keys.ts';
export { readS3Authority as authorityIn, readS3Credentials as credentialsIn } from './s3-files.ts';

type Settled<Section> = {
  readonly [Key in keyof Section]-?: NonNullable<Section[Key]> extends (infer Member)[]
    ? readonly Member[]
    : NonNullable<Section[Key]>;
};
type SectionOf<Name extends keyof ConfigFile> = NonNullable<ConfigFile[Name]>;

/** The configuration with the names of the file and with its defaults; sizes are numbers of bytes. Immutable. */
export interface Config {
  readonly store: Settled<SectionOf<'store'>>;
  readonly auth: Readonly<SectionOf<'auth'>>;
  readonly identity: Settled<Omit<SectionOf<'identity'>, 'oidc' | 'certificates'>> & {
    readonly oidc: OidcSettings;
    readonly certificates: CertificateSettings;
  };
  readonly sessions: Settled<Omit<SectionOf<'sessions'>, 'max_per_account' | 'banner'>> &
    Readonly<Pick<SectionOf<'sessions'>, 'max_per_account' | 'banner'>>;
  readonly http: Settled<Omit<SectionOf<'http'>, 'nginx_location'>> &
    Readonly<Pick<SectionOf<'http'>, 'nginx_location'>>;
  readonly tls: Readonly<SectionOf<'tls'>> & { readonly names: readonly string[] };
  readonly internal: Settled<SectionOf<'internal'>>;
  readonly records: Readonly<SectionOf<'records'>>;
  readonly blobs: Readonly<SectionOf<'blobs'>> & { readonly region: string; readonly redirect_downloads: boolean };
  readonly uploads: Readonly<Record<keyof UploadsConfig, number>>;
  readonly quotas: Readonly<Partial<Record<keyof QuotasConfig, number>>>;
  readonly revisions: Readonly<SectionOf<'revisions'>> & { readonly older_than_days: number };
  readonly registry: Readonly<SectionOf<'registry'>> & { readonly notifications: boolean };
  readonly integrity: Readonly<Record<keyof IntegrityConfig, number>>;
  readonly names: Settled<SectionOf<'names'>>;
  readonly collaborators: Settled<SectionOf<'collaborators'>>;
  readonly log: Settled<SectionOf<'log'>>;
  readonly keys: Readonly<SectionOf<'keys'>> & {
    readonly environment: readonly string[];
    readonly timeout_seconds: number;
    readonly concurrent: number;
  };
  readonly assertions: Settled<SectionOf<'assertions'>>;
  readonly devices: Settled<Omit<SectionOf<'devices'>, 'max_downloads' | 'max_download_rate' | 'max_deltas_size'>> & {
    readonly max_downloads?: number;
    /** Bytes per second. */
    readonly max_download_rate?: number;
    readonly max_deltas_size: number;
  };
  readonly limits: Settled<SectionOf<'limits'>>;
  readonly approvals: Settled<SectionOf<'approvals'>>;
  readonly site: SiteLabels;
  readonly transfers: Readonly<SectionOf<'transfers'>>;
  readonly vulnerabilities: Settled<SectionOf<'vulnerabilities'>>;
  readonly backup: Readonly<SectionOf<'backup'>> & { readonly every: string };
}

/** The OpenID provider of the site. Logins with it are off without an issuer. */
export type OidcSettings = Settled<Omit<OidcConfig, OidcOptional>> & Readonly<Pick<OidcConfig, OidcOptional>>;
type OidcOptional = 'issuer' | 'client_id' | 'client_secret_file' | 'authority_file';

/** Logins with client certificates. They are off without an address. */
export type CertificateSettings = Settled<Omit<CertificatesConfig, CertificatesOptional>> &
  Readonly<Pick<CertificatesConfig, CertificatesOptional>>;
type CertificatesOptional = 'listen' | 'authority_file';

/** The name of the OpenID provider on login pages; undefined without one. */
export const providerName = ({ identity: { oidc } }: Pick<Config, 'identity'>): string | undefined =>
  oidc.issuer === undefined ? undefined : oidc.name;

const largest = 1024 * 1024;

type ConfigChanges = Readonly<Record<string, ConfigValue | undefined>>;

/** Reads and checks a configuration file; throws ConfigError. */
export function readConfig(file: string): Config {
  return parseConfig(file, readText(file));
}

/** Returns the values that a file sets, by section and key, as written; throws ConfigError. */
export function readConfigText(file: string): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const { values, problems } = checkText(readText(file));
  if (problems.length > 0) throw new ConfigError(file, problems);
  return values as Record<string, Record<string, unknown>>;
}

/** The SHA-256 of a configuration file: processes compare it to check that they have read the same file. Empty if there is no such file. */
export function configDigest(file: string): string {
  try {
    return computeDigest('cache', readBounded(file));
  } catch {
    return '';
  }
}

/** Parses a text that is or will be in `file`. */
export function parseConfig(file: string, text: string): Config {
  const { values, problems } = checkText(text);
  if (problems.length > 0) throw new ConfigError(file, problems);
  return settled(values as Record<string, Record<string, unknown> | undefined>);
}

/**
 * Sets keys, by dotted name, in a configuration file and keeps the rest of it, comments and order included; undefined removes a key. The
 * file is replaced atomically, and only if the new content is valid; throws ConfigError if not.
 */
export function changeConfig(file: string, changes: ConfigChanges): void {
  prepareConfig(file, changes).place();
}

/** Prepares the same change, so that only the replacement of the file is left. */
export function prepareConfig(file: string, changes: ConfigChanges): PreparedFile {
  const before = readText(file);
  // A file that the parser refuses cannot be edited. A file with a wrong value can, and the change may correct it.
  const { values, problems } = checkText(before);
  if (values === undefined) throw new ConfigError(file, problems);
  let text = before;
  for (const [name, value] of Object.entries(changes)) {
    if (!findKey(name)) throw new Error(`cannot set '${name}': there is no such key`);
    const [section, key] = splitName(name);
    text = edit(text, section, key, value);
  }
  parseConfig(file, text);
  if (text === before) return { place: () => undefined, discard: () => undefined };
  // If the name is a symbolic link, such as from a data directory to /etc, the link stays and its target is replaced.
  return prepareFile(realpathSync(file), text, 0o600);
}

export interface FirstSettings {
  readonly baseUrl: string;
  readonly listen: string;
  readonly storeAdminId: string;
  /** SHA3-384 of the store administrator's credential, in hexadecimal digits. */
  readonly storeAdminDigest: string;
  /** The PostgreSQL database of the records, and the file with its password. */
  readonly records?: { postgres: string; passwordFile: string | undefined } | undefined;
  /** The site's own certificate, its key and perhaps its authority. */
  readonly siteFiles?: { certificateFile: string; keyFile: string; authorityFile?: string | undefined } | undefined;
}

/** Returns the configuration text of a new store: isolated, with its own credentials. */
export function initialConfig(settings: FirstSettings): string {
  const text = render(
    'The configuration of this store. A key behind a # is not set: it shows the default, or an example.\n' +
      'After a change send the server SIGHUP or restart it.',
    {
      'store.offline_mode': true,
      'auth.store_admin_id': settings.storeAdminId,
      'auth.store_admin_macaroon_sha3_384': settings.storeAdminDigest,
      'http.base_url': settings.baseUrl,
      'http.listen': settings.listen,
      ...(settings.siteFiles && {
        'tls.certificate_file': settings.siteFiles.certificateFile,
        'tls.key_file': settings.siteFiles.keyFile,
        ...(settings.siteFiles.authorityFile !== undefined && {
          'tls.authority_file': settings.siteFiles.authorityFile,
        }),
      }),
      'internal.package_permissions': true,
      ...(settings.records && { 'records.postgres': settings.records.postgres }),
      ...(settings.records?.passwordFile !== undefined && { 'records.password_file': settings.records.passwordFile }),
    },
  );
  parseConfig('larder.toml', text);
  return text;
}

/**
 * The missing keys without which the store administrator's credential cannot be exchanged although store.offline_mode is on; undefined if
 * it is off.
 */
export function missingForExchange({ store, auth }: Pick<Config, 'store' | 'auth'>): string[] | undefined {
  if (!store.offline_mode) return undefined;
  const needed = ['store_admin_id', 'store_admin_macaroon_sha3_384'] as const;
  return needed.filter((key) => auth[key] === undefined).map((key) => `auth.${key}`);
}

/** Whether the store administrator's credential can be exchanged. */
export const isOffline = (config: Pick<Config, 'store' | 'auth'>): boolean => missingForExchange(config)?.length === 0;

function settled(values: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>): Config {
  const config: Record<string, unknown> = {};
  for (const [section, { keys, anyKey }] of sections()) {
    const written = valuesIn(values, section);
    const own: Record<string, unknown> = anyKey === undefined ? {} : { ...written };
    for (const [name, key] of keys) {
      const value = written[name] ?? structuredClone(key.default);
      if (value !== undefined) own[name] = key.size ? parseByteSize(value as number | string) : value;
    }
    putSection(config, section, own);
  }
  return frozen(config) as unknown as Config;
}

function frozen<Value extends object>(value: Value): Value {
  for (const member of Object.values(value))
    if (typeof member === 'object' && member !== null) frozen(member as object);
  return Object.freeze(value);
}

function readText(file: string): string {
  let content: Buffer;
  try {
    content = readBounded(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const words: Readonly<Record<string, string>> = {
      ENOENT: "there is no such file; 'larder init' makes one",
      EISDIR: 'this is not a file',
    };
    const message = words[code ?? ''] ?? describeSystemError(error);
    if (message === undefined) throw error;
    throw new ConfigError(file, [{ message }]);
  }
  if (content.length > largest) throw new ConfigError(file, [{ message: 'the file is larger than 1 MiB' }]);
  return decoded(file, content);
}

/** Reads at most one byte more than is accepted, so that a wrong path to a huge file does no harm. */
function readBounded(file: string): Buffer {
  const handle = openSync(file, 'r');
  try {
    const stat = fstatSync(handle);
    if (!stat.isFile()) throw Object.assign(new Error('not a file'), { code: 'EISDIR' });
    if (stat.size <= largest) return readFileSync(handle);
    const start = Buffer.alloc(largest + 1);
    readSync(handle, start);
    return start;
  } finally {
    closeSync(handle);
  }
}

function decoded(file: string, content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    // The decoded text differs from the file at the first invalid byte.
    const repaired = content.toString('utf8');
    const line = repaired.slice(0, repaired.indexOf('\ufffd')).split('\n').length;
    throw new ConfigError(file, [{ line, message: 'this is not UTF-8 text' }]);
  }
}
