// Reads the resources that a charm declares, and the containers that run them (juju/charm v12, resources.go,
// resource/meta.go and meta.go).
import { quoted } from '../unacceptable.ts';
import type { TypedYaml } from '../yaml.ts';
import {
  integerOf,
  listOf,
  mapOf,
  membersOf,
  describePlace,
  optional,
  refused,
  textOf,
  within,
  type YamlPlace,
} from './values.ts';

export interface CharmResource {
  type: 'file' | 'oci-image';
  filename: string;
  description: string;
}

export const readResources = (value: TypedYaml, place: YamlPlace): Map<string, CharmResource> =>
  mapOf(value, place, (resource, at, name) => {
    const members = membersOf(resource, at);
    const [type, filename, description] = [
      optional(members, 'type', at, textOf) ?? 'file',
      optional(members, 'filename', at, textOf) ?? '',
      optional(members, 'description', at, textOf) ?? '',
    ];
    if (name === '') throw refused(at, `a resource in ${describePlace(place)} has an empty name`, 'Name it.');
    if (type !== 'file' && type !== 'oci-image')
      throw refused(at, `the type of ${describePlace(at)} must be file or oci-image, but is ${quoted(type)}`);
    if (type === 'file' && filename === '')
      throw refused(
        at,
        `${describePlace(at)} is a file, and has no filename`,
        "Add 'filename', under which juju keeps it.",
      );
    if (type === 'file' && filename.includes('/'))
      throw refused(
        at,
        `the filename of ${describePlace(at)} is ${quoted(filename)}, and must have no slash`,
        'Rename it.',
      );
    return { type, filename, description };
  });

/** The declarations that containers refer to. */
interface Referred {
  resources: ReadonlyMap<string, CharmResource>;
  storage: ReadonlySet<string>;
}

/** The first and the last user and group id that are reserved for juju. */
const reservedIds = [1000, 9999] as const;

/** Checks the containers of a charm; returns their number. */
export function checkContainers(value: TypedYaml, place: YamlPlace, { resources, storage }: Referred): number {
  return mapOf(value, place, (container, at) => {
    const members = membersOf(container, at);
    const resource = optional(members, 'resource', at, textOf) ?? '';
    if (resource !== '' && resources.get(resource)?.type !== 'oci-image') {
      const problem = resources.has(resource) ? 'is no oci-image' : 'is not declared';
      throw refused(
        at,
        `the resource ${quoted(resource)} of ${describePlace(at)} ${problem}`,
        "Declare it under 'resources'.",
      );
    }
    optional(members, 'mounts', at, (list, where) =>
      listOf(list, where, (mount, mountPlace) => {
        checkMount(mount, mountPlace, storage);
      }),
    );
    for (const key of ['uid', 'gid']) optional(members, key, at, checkId);
  }).size;
}

function checkMount(value: TypedYaml, place: YamlPlace, storage: ReadonlySet<string>): void {
  const members = membersOf(value, place);
  const name = optional(members, 'storage', place, textOf) ?? '';
  const location = optional(members, 'location', place, textOf) ?? '';
  if (name === '' || location === '')
    throw refused(place, `${describePlace(place)} has no ${name === '' ? 'storage' : 'location'}`, 'Add it.');
  if (!storage.has(name))
    throw refused(
      within(place, 'storage'),
      `the storage ${quoted(name)} of ${describePlace(place)} is not declared`,
      "Declare it under 'storage'.",
    );
}

function checkId(value: TypedYaml, place: YamlPlace): void {
  const id = integerOf(value, place);
  const [first, last] = reservedIds;
  if (id < first || id > last) return;
  throw refused(
    place,
    `${describePlace(place)} is ${String(id)}, and juju keeps ${String(first)} to ${String(last)} for itself`,
    'Choose another.',
  );
}
