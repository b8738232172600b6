// Reads and checks metadata.yaml as juju does (juju/charm v12.1: meta.go and charm.go, CheckMeta).
import { quoted } from '../unacceptable.ts';
import type { TypedYaml } from '../yaml.ts';
import { checkAssumes, isStrictVersion } from './assumes.ts';
import { checkExtraBindings, checkRelations, readRelations, type CharmRelations } from './relations.ts';
import { checkContainers, readResources, type CharmResource } from './resources.ts';
import { checkDevices, readStorage } from './storage.ts';
import { checkTerm } from './terms.ts';
import {
  booleanOf,
  fileOf,
  integerOf,
  listOf,
  mapOf,
  membersOf,
  describePlace,
  oneOf,
  optional,
  refused,
  textOf,
  within,
  type YamlMembers,
  type YamlPlace,
} from './values.ts';

export interface CharmMetadata {
  name: string;
  summary: string;
  description: string;
  relations: CharmRelations;
  resources: Map<string, CharmResource>;
  categories: string[];
  tags: string[];
}

/** Keys of the two formats of metadata; juju refuses a mix of both. */
const keysOfFormats = {
  first: ['series', 'deployment', 'min-juju-version'],
  second: ['containers', 'assumes', 'charm-user'],
};

/** Reads metadata.yaml; `hasBases` says whether the charm's manifest.yaml has bases. Throws `Unacceptable`. */
export function readMetadata(document: TypedYaml, file: string, hasBases: boolean): CharmMetadata {
  const place = fileOf(file);
  const members = membersOf(document, place);
  const [first, second] = [keysOfFormats.first, keysOfFormats.second].map((keys) =>
    keys.find((key) => members.has(key)),
  );
  if (first !== undefined && second !== undefined)
    throw refused(place, `the keys ${quoted(first)} and ${quoted(second)} cannot be used together`, 'Remove one.');
  const [name, summary, description] = ['name', 'summary', 'description'].map((key) =>
    textOf(members.get(key), within(place, key)),
  ) as [string, string, string];
  const relations = readRelations(members, place);
  const isSubordinate = optional(members, 'subordinate', place, booleanOf) ?? false;
  checkRelations({ name, isSubordinate, relations }, place);
  optional(members, 'extra-bindings', place, (value, at) => {
    checkExtraBindings(value, at, relations);
  });
  const texts = (key: string): string[] =>
    optional(members, key, place, (value, at) => listOf(value, at, textOf)) ?? [];
  const [categories, tags] = [texts('categories'), texts('tags')];
  const resources = optional(members, 'resources', place, readResources) ?? new Map<string, CharmResource>();
  checkNeeds(members, place, resources);
  checkFormat(members, place, hasBases);
  return { name, summary, description, relations, resources, categories, tags };
}

/** Checks the requirements of the charm on its model: storage, devices, payloads, terms and containers. */
function checkNeeds(members: YamlMembers, place: YamlPlace, resources: ReadonlyMap<string, CharmResource>): void {
  for (const key of ['revision', 'format']) optional(members, key, place, integerOf);
  const storage = optional(members, 'storage', place, readStorage) ?? new Set<string>();
  optional(members, 'devices', place, checkDevices);
  optional(members, 'payloads', place, checkPayloads);
  optional(members, 'terms', place, (value, at) => listOf(value, at, checkTerm));
  optional(members, 'assumes', place, checkAssumes);
  optional(members, 'containers', place, (value, at) => checkContainers(value, at, { resources, storage }));
  optional(members, 'charm-user', place, oneOf('root', 'sudoer', 'non-root'));
}

const payloadName = /^[a-zA-Z](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?$/;

function checkPayloads(value: TypedYaml, place: YamlPlace): void {
  mapOf(value, place, (payload, at, name) => {
    const type = textOf(membersOf(payload, at).get('type'), within(at, 'type'));
    if (!payloadName.test(name)) throw refused(at, `${quoted(name)} cannot be the name of a payload`, 'Rename it.');
    if (type === '') throw refused(at, `${describePlace(at)} has no type`, 'Add one.');
  });
}

const seriesName = /^[a-z][a-z0-9]*$/;
export const isSeriesName = (text: string): boolean => seriesName.test(text);

/** Older charms have series, newer ones bases; juju accepts only the keys of one format. */
function checkFormat(members: YamlMembers, place: YamlPlace, hasBases: boolean): void {
  const series = optional(members, 'series', place, (value, at) => listOf(value, at, textOf)) ?? [];
  const wrong = series.find((name) => !isSeriesName(name));
  if (wrong !== undefined) throw refused(place, `${quoted(wrong)} cannot be the name of a series`);
  optional(members, 'deployment', place, (value, at) => {
    checkDeployment(value, at, series);
  });
  optional(members, 'min-juju-version', place, (value, at) => {
    const text = textOf(value, at);
    if (!isStrictVersion(text))
      throw refused(at, `${describePlace(at)} is ${quoted(text)}, which is no version`, 'Write such as 2.9.0.');
  });
  if (hasBases && series.length === 0) {
    for (const key of ['min-juju-version', 'deployment'])
      if (members.has(key)) throw refused(place, `${quoted(key)} cannot be used beside bases`, 'Remove it.');
    return;
  }
  for (const key of ['assumes', 'containers']) {
    const value = members.get(key);
    if (key === 'containers' && value instanceof Map && value.size === 0) continue;
    if (!members.has(key)) continue;
    const remedy = 'Name the bases of the charm in manifest.yaml; charmcraft writes them there.';
    throw refused(place, `${quoted(key)} needs bases, and the charm names none`, remedy);
  }
}

function checkDeployment(value: TypedYaml, place: YamlPlace, series: readonly string[]): void {
  const members = membersOf(value, place);
  optional(members, 'type', place, oneOf('stateful', 'stateless', 'daemon'));
  optional(members, 'mode', place, oneOf('operator', 'workload'));
  optional(members, 'service', place, oneOf('cluster', 'loadbalancer', 'external', 'omit'));
  optional(members, 'min-version', place, textOf);
  if (series[0] !== 'kubernetes')
    throw refused(
      place,
      `${describePlace(place)} needs 'kubernetes' as the first of the series`,
      'Add it, or remove the deployment.',
    );
}
