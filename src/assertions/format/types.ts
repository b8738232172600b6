// The types of assertions that this store supports: their primary keys, authorities and header checks.
import { Refusal } from '#domain/refusal.ts';
import { checkConfdbSchema } from './confdb-schema.ts';
import { isKeyId, quoted, type Assertion, type AssertionValue } from './assertion.ts';
import { newestKeyFormat } from './constraints.ts';
import { HeaderReader } from './headers.ts';
import { decodePublicKey, keyId } from './openpgp.ts';

export interface AssertionType {
  /** The headers that identify an assertion of this type. */
  readonly primaryKey: readonly string[];
  /** Default values of primary key headers. The library omits a header with its default value. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** The assertion has no authority: the key that it contains signs it. */
  readonly withoutAuthority?: true;
  /** The newest known format. Assertions in newer formats are stored and served if `check` accepts the headers that this store uses. */
  readonly format: number;
  readonly check: (headers: HeaderReader, assertion: CheckableAssertion) => void;
}

/** An assertion, signed or not. */
export type CheckableAssertion = Pick<Assertion, 'type' | 'headers' | 'body' | 'format' | 'signKeyId'>;

export const series = '16';
export const defaultProvenance = 'global-upload';

/** Returns whether a text is a valid model name: lower-case letters, digits and single inner dashes. */
export const isModelName = (text: string): boolean => text.length <= 128 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text);
/** Returns whether a text is a valid key name: like a model name, with at least one letter. */
export const isKeyName = (text: string): boolean => isModelName(text) && /[a-z]/.test(text);
const isSnapName = (text: string): boolean => text.length >= 2 && text.length <= 40 && isKeyName(text);
const isSnapId = (text: string): boolean => /^[a-zA-Z0-9]{32}$/.test(text);
const isProvenance = (text: string): boolean => text.length <= 128 && /^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$/.test(text);

const types: Readonly<Record<string, AssertionType>> = {
  account: {
    primaryKey: ['account-id'],
    format: 0,
    check(headers) {
      headers.accountId('account-id');
      headers.text('display-name');
      headers.text('validation');
      headers.optionalText('username');
      headers.time('timestamp');
    },
  },

  'account-key': {
    primaryKey: ['public-key-sha3-384'],
    format: newestKeyFormat,
    check(headers, { body }) {
      headers.accountId('account-id');
      if (headers.has('name')) headers.matching('name', isKeyName, keyNameRule);
      headers.validity(false);
      if (headers.has('constraints')) headers.maps('constraints').forEach(checkConstraint);
      checkKeyInBody(headers, body);
    },
  },

  'account-key-request': {
    primaryKey: ['public-key-sha3-384'],
    withoutAuthority: true,
    format: 0,
    check(headers, { body, signKeyId }) {
      headers.accountId('account-id');
      headers.matching('name', isKeyName, keyNameRule);
      headers.validity(false);
      checkKeyInBody(headers, body);
      // snapd does not compare the two, but a request signed by another key proves nothing.
      if (headers.text('public-key-sha3-384') !== signKeyId)
        throw headers.no('sign-key-sha3-384', 'is not the key the request is for');
    },
  },

  model: {
    primaryKey: ['series', 'brand-id', 'model'],
    format: 0,
    check: checkModel,
  },

  serial: {
    primaryKey: ['brand-id', 'model', 'serial'],
    format: 0,
    check(headers) {
      headers.accountId('brand-id');
      headers.matching('model', isModelName, modelNameRule);
      if (headers.text('device-key-sha3-384') !== keyId(decodePublicKey(headers.text('device-key')))) {
        throw headers.no('device-key-sha3-384', "is not the id of the header 'device-key'");
      }
      headers.time('timestamp');
    },
  },

  'serial-request': {
    primaryKey: [],
    withoutAuthority: true,
    format: 0,
    check(headers, { signKeyId }) {
      headers.accountId('brand-id');
      headers.matching('model', isModelName, modelNameRule);
      headers.text('request-id');
      headers.optionalText('serial');
      if (signKeyId !== keyId(decodePublicKey(headers.text('device-key')))) {
        throw headers.no('sign-key-sha3-384', "is not the id of the header 'device-key'");
      }
    },
  },

  'device-session-request': {
    primaryKey: ['brand-id', 'model', 'serial'],
    withoutAuthority: true,
    format: 0,
    check(headers) {
      headers.accountId('brand-id');
      headers.matching('model', isModelName, modelNameRule);
      headers.text('nonce');
      headers.time('timestamp');
    },
  },

  store: {
    primaryKey: ['store'],
    format: 0,
    check(headers) {
      headers.accountId('operator-id');
      if (headers.has('url'))
        headers.matching('url', isStoreAddress, 'must be an http or https address without query or fragment');
      if (headers.has('friendly-stores')) headers.texts('friendly-stores');
      headers.optionalText('location');
      headers.time('timestamp');
    },
  },

  'snap-declaration': {
    primaryKey: ['series', 'snap-id'],
    format: 7,
    check(headers) {
      headers.matching('snap-id', isSnapId, snapIdRule);
      headers.optionalText('snap-name');
      headers.accountId('publisher-id');
      headers.time('timestamp');
      if (headers.has('revision-authority')) headers.maps('revision-authority').forEach(checkRevisionAuthority);
    },
  },

  'snap-revision': {
    primaryKey: ['snap-sha3-384', 'provenance'],
    defaults: { provenance: defaultProvenance },
    format: 0,
    check(headers) {
      headers.matching('snap-sha3-384', isKeyId, digestRule);
      if (headers.has('provenance')) headers.matching('provenance', isProvenance, provenanceRule);
      headers.matching('snap-id', isSnapId, snapIdRule);
      headers.count('snap-size', 0);
      headers.count('snap-revision', 1);
      headers.accountId('developer-id');
      headers.time('timestamp');
    },
  },

  'snap-resource-revision': {
    primaryKey: ['snap-id', 'resource-name', 'resource-sha3-384', 'provenance'],
    defaults: { provenance: defaultProvenance },
    format: 0,
    check(headers) {
      checkResource(headers);
      headers.matching('resource-sha3-384', isKeyId, digestRule);
      headers.count('resource-size', 0);
    },
  },

  'snap-resource-pair': {
    primaryKey: ['snap-id', 'resource-name', 'resource-revision', 'snap-revision', 'provenance'],
    defaults: { provenance: defaultProvenance },
    format: 0,
    check(headers) {
      checkResource(headers);
      headers.count('snap-revision', 1);
    },
  },

  'snap-build': {
    primaryKey: ['snap-sha3-384'],
    format: 0,
    check(headers) {
      headers.matching('snap-sha3-384', isKeyId, digestRule);
      headers.matching('snap-id', isSnapId, snapIdRule);
      headers.count('snap-size', 0);
      headers.oneOf('grade', ['stable', 'devel']);
      headers.time('timestamp');
    },
  },

  'validation-set': {
    primaryKey: ['series', 'account-id', 'name', 'sequence'],
    format: 0,
    check(headers) {
      headers.sameAccountId('account-id', 'authority-id');
      headers.matching('name', isModelName, modelNameRule);
      headers.count('sequence', 1);
      const snaps = headers.maps('snaps');
      for (const snap of snaps) {
        snap.matching('name', isSnapName, snapNameRule);
        snap.matching('id', isSnapId, snapIdRule);
        const presence = snap.has('presence')
          ? snap.oneOf('presence', ['required', 'optional', 'invalid'])
          : 'required';
        if (!snap.has('revision')) continue;
        snap.count('revision', 1);
        if (presence === 'invalid') throw snap.no('revision', 'is given for a snap that must not be there');
      }
      distinct(headers, snaps, 'name');
      distinct(headers, snaps, 'id');
      headers.time('timestamp');
    },
  },

  'system-user': {
    primaryKey: ['brand-id', 'email'],
    format: 2,
    check: checkSystemUser,
  },

  'confdb-schema': {
    primaryKey: ['account-id', 'name'],
    format: 0,
    check: checkConfdbSchema,
  },

  preseed: {
    primaryKey: ['series', 'brand-id', 'model', 'system-label'],
    format: 0,
    check(headers) {
      headers.accountId('brand-id');
      headers.matching('model', isModelName, modelNameRule);
      headers.matching('system-label', isModelName, modelNameRule);
      headers.matching('artifact-sha3-384', isKeyId, digestRule);
      const snaps = headers.maps('snaps');
      for (const snap of snaps) {
        snap.matching('name', isSnapName, snapNameRule);
        if (snap.has('id')) snap.matching('id', isSnapId, snapIdRule);
        if (snap.has('revision')) snap.count('revision', 1);
        if (snap.has('id') !== snap.has('revision'))
          throw snap.no('revision', 'and the id are given together or not at all');
      }
      distinct(headers, snaps, 'name');
      headers.time('timestamp');
    },
  },
};

/** Returns why a type that snapd knows is not in this store; undefined for other types. */
export const whyUnserved = (type: string): string | undefined =>
  ['cluster', 'repair'].includes(type) ? `This store does not serve assertions of type '${type}'.` : undefined;

/** Returns the type of an assertion. Refuses unknown types. */
export function typeOf({ type }: Pick<Assertion, 'type'>): AssertionType {
  const reason = whyUnserved(type);
  if (reason !== undefined) throw new Refusal('api-error', `${reason} Leave them out.`);
  if (!Object.hasOwn(types, type))
    throw new Refusal('api-error', `Assertions of type ${quoted(type)} are not known here.`);
  return types[type] as AssertionType;
}

/** All supported types. */
export const assertionTypes: readonly string[] = Object.keys(types);

/** Returns the values of the primary key of an assertion. */
export function primaryKeyOf({ type, headers }: Pick<Assertion, 'type' | 'headers'>): string[] {
  const { primaryKey, defaults } = typeOf({ type });
  const reader = new HeaderReader(type, headers);
  return primaryKey.map((name) => (reader.has(name) ? reader.text(name) : (defaults?.[name] ?? reader.text(name))));
}

/** Returns the name of an assertion from values typed by a person. Series and provenance may be omitted. */
export function nameTyped(type: string, values: readonly string[]): string {
  const { primaryKey, defaults = {} } = typeOf({ type });
  const defaultValues: Readonly<Record<string, string | undefined>> = { series, ...defaults };
  const optional = primaryKey.filter((name) => defaultValues[name] !== undefined);
  if (values.length < primaryKey.length - optional.length || values.length > primaryKey.length) {
    throw new Refusal('api-error', `An assertion of type ${type} is named by: ${primaryKey.join(', ')}.`);
  }
  // Optional values are omitted from the front, such as the series of a model.
  const missing = optional.slice(0, primaryKey.length - values.length);
  const rest = [...values];
  const key = primaryKey.map((name) => (missing.includes(name) ? defaultValues[name] : rest.shift()));
  return [type, ...key].join('/');
}

/** Returns type and primary key as one text, the name of the assertion in lookups. */
export const nameOf = (assertion: Pick<Assertion, 'type' | 'headers'>): string =>
  [assertion.type, ...primaryKeyOf(assertion)].join('/');

/** Maximum bytes of one primary key value. PostgreSQL cannot index longer values. */
const longestName = 1024;

/** Refuses an assertion in a format that is newer than this store knows, because the store would sign it or act on it. */
export function refuseNewerFormat({ type, headers, format }: Pick<Assertion, 'type' | 'headers' | 'format'>): void {
  const newest = typeOf({ type }).format;
  if (format > newest) {
    throw new HeaderReader(`${type} assertion`, headers).no(
      'format',
      `is ${format}; the newest that is understood is ${newest}`,
    );
  }
}

/** Refuses an assertion if its headers or body are invalid for its type. Does not verify the signature. */
export function checkAssertion(assertion: CheckableAssertion): void {
  const type = typeOf(assertion);
  const headers = new HeaderReader(`${assertion.type} assertion`, assertion.headers);
  if (type.withoutAuthority) {
    // A request is for this store, and no device reads it.
    refuseNewerFormat(assertion);
    if (headers.has('authority-id'))
      throw headers.no('authority-id', 'must not be there, since the key it carries signs it');
  } else {
    headers.accountId('authority-id');
  }
  // snapd defines delegation but has it disabled, so its meaning is not settled.
  if (headers.has('signatory-id')) throw headers.no('signatory-id', 'is not supported');
  for (const name of type.primaryKey) {
    if (!headers.has(name) && type.defaults?.[name] !== undefined) continue;
    if (headers.text(name).includes('/')) throw headers.no(name, "must not hold a '/'");
    if (Buffer.byteLength(headers.text(name)) > longestName)
      throw headers.no(name, `is longer than ${String(longestName)} bytes`);
  }
  if (type.primaryKey.includes('series')) headers.oneOf('series', [series]);
  type.check(headers, assertion);
}

const keyNameRule =
  'must be lower-case letters, digits and single inner dashes, with at least one letter (at most 128)';
const modelNameRule = 'must be lower-case letters, digits and single inner dashes (at most 128)';
const provenanceRule = 'must be letters, digits and single inner dashes (at most 128)';
const snapNameRule = 'must be a snap name';
const snapIdRule = 'must be a snap id of 32 letters and digits';
const digestRule = 'must be a SHA3-384 digest in base64url';

/** Refuses a body that is not the key in the headers. */
function checkKeyInBody(headers: HeaderReader, body: string): void {
  const name = 'public-key-sha3-384';
  if (body === '') throw headers.no(name, 'names a key, but there is no body that holds it');
  const id = keyId(decodePublicKey(body));
  if (headers.text(name) !== id) throw headers.no(name, `is not the id of the key in the body (${id})`);
}

function checkModel(headers: HeaderReader): void {
  headers.sameAccountId('brand-id', 'authority-id');
  headers.matching('model', isModelName, modelNameRule);
  const classic = headers.has('classic') && headers.oneOf('classic', ['true', 'false']) === 'true';
  const extended = headers.has('snaps');
  const forbid = (names: string[], reason: string) => {
    for (const name of names) if (headers.has(name)) throw headers.no(name, reason);
  };
  if (extended) {
    forbid(['gadget', 'kernel', 'required-snaps'], "cannot stand beside 'snaps', which says the same");
    headers.text('architecture');
    headers.matching('base', isSnapName, snapNameRule);
    if (classic)
      headers.matching('distribution', (id) => /^[a-z0-9._-]+$/.test(id), 'must be the id of a distribution');
    checkModelSnaps(headers);
  } else {
    forbid(['grade', 'storage-safety'], "needs the header 'snaps'");
    if (classic) forbid(['kernel', 'base'], "cannot be given for a classic model without 'snaps'");
    for (const name of ['architecture', 'gadget', 'kernel']) if (!classic) headers.text(name);
    if (headers.has('base')) headers.matching('base', isSnapName, snapNameRule);
    for (const name of ['gadget', 'kernel'])
      if (headers.has(name))
        headers.matching(name, isSnapWithTrack, 'must be a snap name, or a name and a track: pc=22');
    if (headers.has('required-snaps')) {
      for (const name of headers.texts('required-snaps'))
        if (!isSnapName(name)) throw headers.no('required-snaps', `holds ${quoted(name)}, which is no snap name`);
    }
  }
  if (!(classic && extended)) forbid(['distribution'], "needs a classic model with the header 'snaps'");
  headers.optionalText('store');
  headers.optionalText('display-name');
  if (headers.has('serial-authority')) headers.accountIds('serial-authority');
  if (headers.has('system-user-authority') && headers.value('system-user-authority') !== '*')
    headers.accountIds('system-user-authority');
  headers.time('timestamp');
}

function checkModelSnaps(headers: HeaderReader): void {
  const grade = headers.has('grade') ? headers.oneOf('grade', ['secured', 'signed', 'dangerous']) : 'signed';
  const safeties = ['encrypted', 'prefer-encrypted', 'prefer-unencrypted'];
  if (headers.has('storage-safety')) headers.oneOf('storage-safety', grade === 'secured' ? ['encrypted'] : safeties);

  const snaps = headers.maps('snaps');
  const base = headers.text('base');
  const essential = new Map<string, string>();
  for (const snap of snaps) {
    const name = snap.matching('name', isSnapName, snapNameRule);
    // Snaps that were never in a store have no id. Only a model of grade dangerous may list them.
    if (snap.has('id') || grade !== 'dangerous') snap.matching('id', isSnapId, snapIdRule);
    const type = snap.has('type') ? snap.oneOf('type', ['app', 'base', 'gadget', 'kernel', 'core', 'snapd']) : 'app';
    if (snap.has('default-channel'))
      snap.matching('default-channel', isChannelWithTrack, 'must be a channel with its track: latest/stable');
    if (snap.has('presence')) snap.oneOf('presence', ['required', 'optional']);
    if (snap.has('modes')) {
      for (const mode of snap.texts('modes'))
        if (!/^[a-z][-a-z]+$/.test(mode)) throw snap.no('modes', `holds ${quoted(mode)}, which is no mode`);
    }
    if (name === base && type !== 'base') throw snap.no('type', "must be 'base' for the base of the model");
    const role = name === base ? 'base' : type;
    if (!['snapd', 'kernel', 'gadget', 'base'].includes(role) || (role === 'base' && name !== base)) continue;
    const other = essential.get(role);
    if (other !== undefined)
      throw headers.no('snaps', `holds two snaps of type ${role}: ${quoted(other)} and ${quoted(name)}`);
    essential.set(role, name);
    for (const headerName of ['modes', 'presence'])
      if (snap.has(headerName))
        throw snap.no(headerName, `cannot be given for the ${role} of a model, which is always there`);
  }
  distinct(headers, snaps, 'name');
  distinct(headers, snaps, 'id');
  for (const role of ['gadget', 'kernel'])
    if (!essential.has(role)) throw headers.no('snaps', `must hold the ${role} of the model`);
  // snapd contains the ids of these bases. Any other base must be listed with its id.
  const wellKnown = ['core', 'core18', 'core20', 'core22', 'core24'];
  if (!essential.has('base') && grade !== 'dangerous' && !wellKnown.includes(base)) {
    throw headers.no('snaps', `must hold the base ${quoted(base)}`);
  }
}

function checkSystemUser(headers: HeaderReader, { format }: CheckableAssertion): void {
  headers.accountId('brand-id');
  headers.matching(
    'email',
    (email) => /^[^\s@<>()[\],;:\\"]+@[^\s@<>()[\],;:\\"]+$/.test(email),
    'must be an e-mail address',
  );
  const lists = ['series', 'models', 'serials', 'ssh-keys'].map((name) =>
    headers.has(name) ? headers.texts(name) : [],
  );
  const [, models = [], serials = []] = lists;
  if (serials.length > 0 && format < 1) throw headers.no('serials', 'needs format 1');
  if (serials.length > 0 && models.length !== 1) throw headers.no('serials', 'needs exactly one model');
  headers.optionalText('name');
  headers.matching('username', (name) => /^[a-z0-9][-a-z0-9+._]*$/.test(name), 'must be the name of a system user');
  if (headers.has('password'))
    headers.matching('password', isCryptHash, 'must be hashed by crypt(3) with SHA-512 or better: $6$salt$hash');
  if (headers.has('force-password-change') && headers.oneOf('force-password-change', ['true', 'false']) === 'true')
    headers.text('password');
  const { since, until } = headers.validity(true);
  const year = new Date(since);
  year.setUTCFullYear(since.getUTCFullYear() + 1);
  if (models.length === 0 && until !== undefined && until > year)
    throw headers.no('until', 'can be at most a year after since when no model is named');
}

/** Formats: `$6$salt$hash` or `$6$rounds=N$salt$hash`. */
function isCryptHash(text: string): boolean {
  const match = /^\$([1-9]\d{0,3})\$(?:rounds=(\d{1,9})\$)?[a-zA-Z0-9./]+\$[a-zA-Z0-9./]+$/.exec(text);
  return match !== null && Number(match[1]) >= 6 && (match[2] === undefined || Number(match[2]) >= 5000);
}

function checkConstraint(constraint: HeaderReader): void {
  constraint
    .map('headers')
    .matching('type', (type) => /^[a-z]+(?:-[a-z]+)*$/.test(type), 'must name one type of assertion');
}

/** Checks the headers that both types about components share. */
function checkResource(headers: HeaderReader): void {
  headers.matching('snap-id', isSnapId, snapIdRule);
  headers.matching('resource-name', isSnapName, snapNameRule);
  headers.count('resource-revision', 1);
  if (headers.has('provenance')) headers.matching('provenance', isProvenance, provenanceRule);
  headers.accountId('developer-id');
  headers.time('timestamp');
}

function checkRevisionAuthority(authority: HeaderReader): void {
  authority.accountId('account-id');
  for (const provenance of authority.texts('provenance')) {
    if (!isProvenance(provenance))
      throw authority.no('provenance', `holds ${quoted(provenance)}; each ${provenanceRule}`);
  }
  for (const name of ['min-revision', 'max-revision']) if (authority.has(name)) authority.count(name, 1);
  for (const name of ['since', 'until']) if (authority.has(name)) authority.time(name);
}

const isSnapWithTrack = (text: string): boolean => {
  const [name = '', track, more] = text.split('=');
  if (track === undefined) return isSnapName(name);
  return more === undefined && isSnapName(name) && isTrack(track) && !risks.includes(track);
};

const risks: readonly string[] = ['stable', 'candidate', 'beta', 'edge'];
const isTrack = (text: string): boolean => /^[a-zA-Z0-9](?:[-.]?[a-zA-Z0-9])*$/.test(text);

function isChannelWithTrack(text: string): boolean {
  const [track = '', risk, branch, more] = text.split('/');
  if (more !== undefined || !isTrack(track) || risks.includes(track)) return false;
  return (risk === undefined || risks.includes(risk)) && (branch === undefined || isTrack(branch));
}

function isStoreAddress(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null && /^https?:$/.test(url.protocol) && url.host !== '' && !text.includes('?') && !text.includes('#')
  );
}

function distinct(headers: HeaderReader, snaps: readonly HeaderReader[], member: string): void {
  const seen = new Set<AssertionValue>();
  for (const snap of snaps) {
    if (!snap.has(member)) continue;
    const value = snap.text(member);
    if (seen.has(value)) throw headers.no('snaps', `names the ${member} ${quoted(value)} twice`);
    seen.add(value);
  }
}
