// Reads a snap.yaml as snapd decodes it (snap/info_snap_yaml.go), and finds the faults that make a device refuse its
// shape.
import { quoted } from '../unacceptable.ts';
import type { TypedYaml } from '../yaml.ts';
import { parseDuration } from './durations.ts';
import { YamlFields, isNonText, scalarText, type Faults, type TypedMapping } from './fields.ts';

/** A plug or slot. */
export interface Connector {
  interfaceName: string;
  attributes: Map<string, TypedYaml>;
}

export interface Hook {
  plugs: string[];
  slots: string[];
  commandChain: string[];
}

export interface Socket {
  listenStream: string;
  mode: number;
}

export interface App extends Hook {
  /** Every field that is one text; empty if it is missing. */
  texts: Record<AppText, string>;
  aliases: string[];
  activatesOn: string[];
  after: string[];
  before: string[];
  successExitStatus: string[];
  sockets: Map<string, Socket>;
  /** Nanoseconds. */
  timeouts: Record<AppTimeout, number>;
}

const appTexts = [
  ...([
    'command',
    'stop-command',
    'reload-command',
    'post-stop-command',
    'completer',
    'bus-name',
    'common-id',
  ] as const),
  ...(['daemon', 'daemon-scope', 'refresh-mode', 'stop-mode', 'install-mode', 'restart-condition'] as const),
  ...(['timer', 'autostart'] as const),
];
type AppText = (typeof appTexts)[number];
const appTimeouts = ['start-timeout', 'stop-timeout', 'watchdog-timeout', 'restart-delay'] as const;
type AppTimeout = (typeof appTimeouts)[number];

export interface SnapLayout {
  bind: string;
  bindFile: string;
  type: string;
  user: string;
  group: string;
  mode: number;
  symlink: string;
}

export interface SnapComponent {
  type: string;
  summary: string;
  description: string;
  hooks: Map<string, Hook>;
}

export interface SnapModel {
  name: string;
  /** `app` if the snap names none, as in snapd. */
  type: string;
  confinement: string;
  base: string;
  title: string;
  description: string;
  provenance: string;
  license: string;
  plugs: Map<string, Connector>;
  slots: Map<string, Connector>;
  apps: Map<string, App>;
  hooks: Map<string, Hook>;
  layouts: Map<string, SnapLayout>;
  links: Map<string, string[]>;
  systemUsernames: string[];
  components: Map<string, SnapComponent>;
}

/** Mappings with a duplicate key, each with that key. */
export type DuplicateKeys = WeakMap<TypedMapping, TypedYaml>;

const file = 'meta/snap.yaml';

/** Reads the document of a snap.yaml; adds what a device could not decode to `faults`. */
export function readModel(document: TypedYaml, duplicates: DuplicateKeys, faults: Faults): SnapModel {
  const snap = new YamlFields(document, file, faults);
  const environment = (fields: YamlFields) => {
    checkEnvironment(fields, duplicates);
  };
  environment(snap);
  snap.texts('assumes');
  for (const key of ['version', 'summary'] as const) snap.text(key);
  if ((snap.get('layouts') ?? null) !== null) faults.add(`${file} has 'layouts': a device knows 'layout' alone.`);
  const name = snap.text('name');
  const links = snap.fields('links');
  return {
    name,
    type: name === 'snapd' ? 'snapd' : snap.text('type').replace(/^application$/, 'app') || 'app',
    confinement: snap.text('confinement') || 'strict',
    base: snap.text('base'),
    title: snap.text('title'),
    description: snap.text('description'),
    provenance: snap.text('provenance'),
    license: snap.text('license'),
    plugs: connectors(snap, 'plugs'),
    slots: connectors(snap, 'slots'),
    apps: mapped(snap, 'apps', (app) => (environment(app), readApp(app))),
    hooks: mapped(snap, 'hooks', (hook) => (environment(hook), readHook(hook))),
    layouts: mapped(snap, 'layout', readLayout),
    links: new Map([...links].map(([key]) => [key, links.texts(key)])),
    systemUsernames: usernames(snap.fields('system-usernames')),
    components: mapped(snap, 'components', (component) => ({
      type: component.text('type'),
      summary: component.text('summary'),
      description: component.text('description'),
      hooks: mapped(component, 'hooks', (hook) => (environment(hook), readHook(hook))),
    })),
  };
}

function mapped<Value>(parent: YamlFields, key: string, read: (fields: YamlFields) => Value): Map<string, Value> {
  const fields = parent.fields(key);
  return new Map([...fields].map(([name]) => [name, read(fields.fields(name))]));
}

/** Checks variables: each name is a text and unique, each value is one text. */
function checkEnvironment(fields: YamlFields, duplicates: DuplicateKeys): void {
  const value = fields.get('environment') ?? null;
  const variables = fields.fields('environment');
  for (const [name] of variables) variables.text(name);
  if (!(value instanceof Map)) return;
  for (const key of value.keys()) {
    if (typeof key !== 'string')
      fields.faults.add(`'environment' in ${fields.where} has a name that is no text: put it in quotes.`);
  }
  const twice = duplicates.get(value);
  if (twice !== undefined)
    fields.faults.add(`'environment' in ${fields.where} has ${quoted(scalarText(twice) ?? '')} twice: leave one out.`);
}

function connectors(snap: YamlFields, key: 'plugs' | 'slots'): Map<string, Connector> {
  const fields = snap.fields(key);
  return new Map([...fields].map(([name, value]) => [name, readConnector(key, name, value, snap.faults)]));
}

function readConnector(key: 'plugs' | 'slots', name: string, value: TypedYaml, faults: Faults): Connector {
  const subject = `The ${key === 'plugs' ? 'plug' : 'slot'} ${quoted(name)} in ${file}`;
  const connector: Connector = { interfaceName: name, attributes: new Map() };
  if (value === null) return connector;
  if (typeof value === 'string') return { ...connector, interfaceName: value };
  if (!(value instanceof Map)) {
    faults.add(`${subject} must be the name of an interface, or a mapping of its attributes.`);
    return connector;
  }
  for (const [attribute, member] of value) {
    if (typeof attribute !== 'string' || attribute === '') faults.add(`${subject} has an attribute without a name.`);
    else if (attribute.startsWith('$')) faults.add(`${subject} uses the reserved attribute ${quoted(attribute)}.`);
    else if (attribute === 'interface' || attribute === 'label') {
      if (typeof member !== 'string') faults.add(`'${attribute}' of ${subject.replace('The', 'the')} must be a text.`);
      else if (attribute === 'interface') connector.interfaceName = member;
    } else {
      if (!isAttribute(member))
        faults.add(
          `The attribute ${quoted(attribute)} of ${subject.replace('The', 'the')} has a value that a device cannot keep, such as nothing, or a key that is no text.`,
        );
      connector.attributes.set(attribute, member);
    }
  }
  return connector;
}

/** Whether a device can store a value: no null, no number of more than 63 bits, and only texts as keys. */
function isAttribute(value: TypedYaml): boolean {
  if (value === null) return false;
  if (typeof value === 'string') return true;
  if (Array.isArray(value)) return value.every(isAttribute);
  if (isNonText(value)) return value.type !== 'int' || integerOf(value.text) < 2n ** 63n;
  return [...value].every(([key, member]) => typeof key === 'string' && isAttribute(member));
}

/** The value of a YAML 1.1 integer. */
function integerOf(text: string): bigint {
  const plain = text.replaceAll('_', '').replace(/^\+/, '');
  const digits = plain.replace(/^-/, '').replace(/^0(?=[0-7])/, '0o');
  return plain.startsWith('-') ? -BigInt(digits) : BigInt(digits);
}

function usernames(fields: YamlFields): string[] {
  const names: string[] = [];
  for (const [name, value] of fields) {
    names.push(name);
    const attributes = value instanceof Map ? value : undefined;
    const scope = attributes === undefined ? value : (attributes.get('scope') ?? null);
    const others = [...(attributes ?? [])].filter(([key]) => key !== 'scope');
    const isSound = others.every(([key, member]) => typeof key === 'string' && key !== '' && isAttribute(member));
    if (name === '' || typeof scope !== 'string' || scope === '' || !isSound)
      fields.faults.add(
        `The system username ${quoted(name)} in ${file} needs a name and a scope, such as 'snap_daemon: shared'.`,
      );
  }
  return names;
}

function readHook(fields: YamlFields): Hook {
  return { plugs: fields.texts('plugs'), slots: fields.texts('slots'), commandChain: fields.texts('command-chain') };
}

function readApp(fields: YamlFields): App {
  const texts = Object.fromEntries(appTexts.map((key) => [key, fields.text(key)])) as App['texts'];
  for (const [key, words] of Object.entries(appWords)) {
    const text = fields.optionalText(key);
    if (text !== undefined && !words.includes(text))
      fields.faults.add(`'${key}' in ${fields.where} has the unknown value ${quoted(text)}: use ${words.join(', ')}.`);
  }
  return {
    ...readHook(fields),
    texts,
    aliases: fields.texts('aliases'),
    activatesOn: fields.texts('activates-on'),
    after: fields.texts('after'),
    before: fields.texts('before'),
    successExitStatus: fields.texts('success-exit-status'),
    sockets: mapped(fields, 'sockets', (socket) => ({
      listenStream: socket.text('listen-stream'),
      mode: socketMode(socket),
    })),
    timeouts: Object.fromEntries(appTimeouts.map((key) => [key, timeout(fields, key)])) as App['timeouts'],
  };
}

/** The values of fields that a device checks while it decodes, before any other validation. */
const appWords: Partial<Record<AppText, string[]>> = {
  'daemon-scope': ['system', 'user'],
  'restart-condition': ['no', 'never', 'on-success', 'on-failure', 'on-abnormal', 'on-abort', 'on-watchdog', 'always'],
};

function timeout(fields: YamlFields, key: AppTimeout): number {
  const text = fields.optionalText(key);
  if (text === undefined) return 0;
  const duration = parseDuration(text);
  if (duration === undefined)
    fields.faults.add(`'${key}' in ${fields.where} is no duration: write one such as 30s or 1m30s.`);
  return duration ?? 0;
}

function socketMode(fields: YamlFields): number {
  const value = fields.get('socket-mode') ?? null;
  if (value === null) return 0;
  if (isNonText(value) && value.type === 'int') {
    const mode = integerOf(value.text);
    if (mode >= 0n && mode < 2n ** 32n) return Number(mode);
  }
  fields.faults.add(`'socket-mode' in ${fields.where} must be a number without quotes, such as 0660.`);
  return 0;
}

function readLayout(fields: YamlFields): SnapLayout {
  const mode = fields.text('mode') || '755';
  const isMode = /^[0-7]+$/.test(mode) && Number.parseInt(mode, 8) < 2 ** 32;
  if (!isMode) fields.faults.add(`'mode' in ${fields.where} must be a file mode in octal digits, such as 0755.`);
  return {
    bind: fields.text('bind'),
    bindFile: fields.text('bind-file'),
    type: fields.text('type'),
    user: fields.text('user'),
    group: fields.text('group'),
    mode: isMode ? Number.parseInt(mode, 8) : 0o755,
    symlink: fields.text('symlink'),
  };
}
