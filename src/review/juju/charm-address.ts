// Parses the addresses of charms in a bundle, and checks the names of applications, machines and endpoints (juju/charm
// v12.1: url.go, bundledata.go and offerurl.go; juju/names v5).
import { isSeriesName } from './metadata.ts';

/**
 * Whether a text is a name of an application, a storage or a device: words with dashes between them; no word after the
 * first is a number, and the first begins with a letter.
 */
export function isApplicationName(text: string): boolean {
  const [first = '', ...words] = text.split('-');
  return /^[a-z][a-z0-9]*$/.test(first) && words.every((word) => /^[a-z0-9]*[a-z][a-z0-9]*$/.test(word));
}

export const isRelationName = (text: string): boolean => /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/.test(text);

export const isMachineId = (text: string): boolean => /^(?:0|[1-9][0-9]*)$/.test(text);

export interface CharmAddress {
  schema: 'ch' | 'local';
  series: string;
  /** Undefined if the address has none. */
  revision: number | undefined;
}

/** Whether a charm is given by a path on the operator's host. */
export const isCharmPath = (text: string): boolean => text.startsWith('.') || text.startsWith('/');

const supported = ['amd64', 'i386', 'armhf', 'arm64', 'ppc64el', 's390x', 'riscv64'];

/** Parses `name`, `ch:name-30`, `ch:amd64/jammy/name` or `local:jammy/name`; undefined for anything else. */
export function parseCharmAddress(text: string): CharmAddress | undefined {
  if (text.length > 1000 || /[?#@\s%]/.test(text)) return undefined;
  const [, scheme = '', rest = ''] = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(.*)$/.exec(text) ?? [];
  const schema = scheme === '' ? 'ch' : scheme.toLowerCase();
  if (schema !== 'ch' && schema !== 'local') return undefined;
  const parts = schema === 'ch' ? rest.replace(/^\/+|\/+$/g, '').split('/') : rest.split('/');
  const [architecture, series] = placeOf(schema, parts.slice(0, -1));
  if (architecture === undefined || series === undefined) return undefined;
  const [, name = '', digits] = /^(.+?)(?:-(\d{1,18}))?$/.exec(parts.at(-1) ?? '') ?? [];
  if (!isApplicationName(name) || (series !== '' && !isSeriesName(series))) return undefined;
  return { schema, series, revision: digits === undefined ? undefined : Number(digits) };
}

/** The architecture and the series before the name of a charm; undefined if they are invalid. */
function placeOf(schema: 'ch' | 'local', parts: readonly string[]): [string | undefined, string | undefined] {
  const [first = '', second = ''] = parts;
  if (schema === 'local') return parts.length > 1 ? [undefined, undefined] : ['', first];
  if (parts.length > 2) return [undefined, undefined];
  if (parts.length === 2) return [supported.includes(first) ? first : undefined, second];
  return supported.includes(first) ? [first, ''] : ['', first];
}

/** Whether a text is a base such as `ubuntu@22.04` or `ubuntu@22.04/stable`. */
export function isBaseText(text: string): boolean {
  const [system = '', channel, ...others] = text.split('@');
  if (channel === undefined || others.length > 0) return false;
  const parts = channel.split('/');
  const risks = ['stable', 'candidate', 'beta', 'edge'];
  const risk = parts.length < 3 && risks.includes(parts[0] ?? '') ? parts[0] : parts[1];
  return (
    ['ubuntu', 'centos', 'windows', 'osx', 'opensuse', 'genericlinux'].includes(system.toLowerCase()) &&
    parts.length <= 3 &&
    parts.every((part) => part !== '') &&
    (risk === undefined || risks.includes(risk))
  );
}

/** Whether a text is an offer such as `admin/model.application` or `controller:admin/model.application`. */
export function isOfferAddress(text: string): boolean {
  if (text.length > 1000 || text.startsWith(':')) return false;
  const colons = text.split(':');
  const isEndpoint = colons.length === 2 && /^[a-zA-Z0-9]+$/.test(colons[1]!);
  const rest = colons.length === 3 ? colons.slice(1).join(':') : colons.length === 2 && !isEndpoint ? colons[1]! : text;
  const [, user = '', model = '', application = ''] = /^(?:\/?([^/]+)\/)?([^./]*)\.([^/]*)$/.exec(rest) ?? [];
  const isUser = user === '' || user.split('@').every((part) => /^[a-zA-Z0-9][a-zA-Z0-9.+-]*[a-zA-Z0-9]$/.test(part));
  const isModel = /^[a-z0-9][a-z0-9-]*$/.test(model);
  return isUser && isModel && isApplicationName(application.split(':')[0]!);
}
