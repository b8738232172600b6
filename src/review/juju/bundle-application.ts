// Checks one application of a bundle (juju/charm v12.1: bundledata.go, ApplicationSpec, normalizeData and
// verifyApplications).
import { isIP } from 'node:net';

import { quoted } from '../unacceptable.ts';
import type { TypedYaml } from '../yaml.ts';
import { isApplicationName, isBaseText, isCharmPath, isRelationName, parseCharmAddress } from './charm-address.ts';
import { decodeBoolean, decodeInteger, decodeList, decodeMap, decodeMembers, decodeText } from './decode.ts';
import { isSeriesName } from './metadata.ts';
import { describe, isNonText, refused, within, type YamlMembers, type YamlPlace } from './values.ts';

export interface BundleApplication {
  charm: string;
  channel: string;
  /** Undefined if the bundle does not pin one. */
  revision: number | undefined;
  series: string;
  base: string;
  units: number;
  placements: string[];
  members: YamlMembers;
}

/** Reads an application of a bundle. Throws `Unacceptable`. */
export function readApplication(value: TypedYaml, place: YamlPlace, isKubernetes: boolean): BundleApplication {
  const name = quoted(place.path.slice(place.path.indexOf('.') + 1));
  if (value === null) throw refused(place, `the application ${name} says nothing`, "Add its 'charm'.");
  const members = decodeMembers(value, place);
  const text = (key: string): string => decodeText(members.get(key), within(place, key));
  const integer = (key: string): number => decodeInteger(members.get(key), within(place, key));
  const [units, scale] = [integer('num_units'), integer('scale')];
  if (scale > 0 && units > 0) throw refused(place, `the application ${name} has scale and num_units`, 'Remove one.');
  const listed = decodeList(members.get('to'), within(place, 'to'), decodeText);
  const placement = text('placement');
  if (placement !== '' && !isKubernetes)
    throw refused(
      place,
      `the application ${name} has a placement, which only bundles for Kubernetes have`,
      "Use 'to'.",
    );
  if (placement !== '' && listed.length > 0)
    throw refused(place, `the application ${name} has placement and to`, 'Remove one.');
  for (const key of ['constraints', 'plan']) text(key);
  for (const key of ['expose', 'trust']) decodeBoolean(members.get(key), within(place, key));
  for (const key of ['annotations', 'storage', 'devices', 'bindings'])
    decodeMap(members.get(key), within(place, key), decodeText);
  decodeMembers(members.get('options'), within(place, 'options'));
  return {
    charm: text('charm'),
    channel: text('channel'),
    series: text('series'),
    base: text('base'),
    revision: (members.get('revision') ?? null) === null ? undefined : integer('revision'),
    units: units === 0 && scale > 0 ? scale : units,
    placements: placement === '' ? listed : [placement],
    members,
  };
}

/** Refuses an application that juju does not deploy, by its own fields alone. */
export function checkApplication(name: string, application: BundleApplication, place: YamlPlace): void {
  const { series, base, units } = application;
  const called = `the application ${quoted(name)}`;
  checkCharm(called, application, place);
  if (series !== '' && !isSeriesName(series))
    throw refused(place, `the series ${quoted(series)} of ${called} cannot be one`);
  if (base !== '' && !isBaseText(base))
    throw refused(place, `the base ${quoted(base)} of ${called} is none`, 'Write such as ubuntu@22.04.');
  if (units < 0) throw refused(place, `${called} has ${String(units)} units`, 'Write 0 or more.');
  checkNames(called, application, place);
  checkExposed(called, application, place);
}

function checkCharm(called: string, application: BundleApplication, place: YamlPlace): void {
  const { charm, channel, revision, series } = application;
  if (charm === '') throw refused(place, `${called} has no charm`, "Add its 'charm'.");
  if (isCharmPath(charm)) {
    const problem = `the charm of ${called} is the path ${quoted(charm)}, which does not exist on the machine that deploys the bundle`;
    throw refused(place, problem, 'Name a charm of the store.');
  }
  const address = parseCharmAddress(charm);
  if (address === undefined) throw refused(place, `the charm ${quoted(charm)} of ${called} is not the name of a charm`);
  if (address.schema === 'ch' && address.revision !== undefined)
    throw refused(place, `the charm ${quoted(charm)} of ${called} names a revision`, "Use the key 'revision'.");
  if (revision !== undefined && address.schema === 'ch' && channel === '')
    throw refused(place, `${called} has a revision and no channel`, "Add the 'channel' of later refreshes.");
  if (revision !== undefined && revision < 0) throw refused(place, `the revision of ${called} is negative`);
  if (address.series !== '' && series !== '' && address.series !== series)
    throw refused(place, `the charm ${quoted(charm)} of ${called} names another series than ${quoted(series)}`);
}

function checkNames(called: string, { members }: BundleApplication, place: YamlPlace): void {
  const namesIn = (key: string): string[] => [...decodeMembers(members.get(key), within(place, key)).keys()];
  for (const key of ['storage', 'devices']) {
    const wrong = namesIn(key).find((name) => !isApplicationName(name));
    if (wrong !== undefined) throw refused(place, `${quoted(wrong)} in the ${key} of ${called} cannot be a name`);
  }
  const offers = decodeMap(members.get('offers'), within(place, 'offers'), (offer, at) => {
    const offerMembers = decodeMembers(offer, at);
    decodeMap(offerMembers.get('acl'), within(at, 'acl'), decodeText);
    return decodeList(offerMembers.get('endpoints'), within(at, 'endpoints'), decodeText);
  });
  for (const [offer, endpoints] of offers) {
    if (!isApplicationName(offer)) throw refused(place, `${quoted(offer)} in the offers of ${called} cannot be a name`);
    const wrong = endpoints.find((endpoint) => !isRelationName(endpoint));
    if (wrong !== undefined)
      throw refused(place, `${quoted(wrong)}, an endpoint in the offers of ${called}, cannot be a name`);
  }
  for (const [resource, revision] of decodeMembers(members.get('resources'), within(place, 'resources'))) {
    if (resource === '') throw refused(place, `a resource of ${called} has no name`);
    if (typeof revision !== 'string' && !(isNonText(revision) && revision.type === 'int'))
      throw refused(
        place,
        `the resource ${quoted(resource)} of ${called} is ${describe(revision)}, and must be a revision`,
      );
  }
}

function checkExposed(called: string, { members }: BundleApplication, place: YamlPlace): void {
  const key = 'exposed-endpoints';
  const networks = decodeMap(members.get(key), within(place, key), (endpoint, at) => {
    const endpointMembers = decodeMembers(endpoint, at);
    decodeList(endpointMembers.get('expose-to-spaces'), within(at, 'expose-to-spaces'), decodeText);
    return decodeList(endpointMembers.get('expose-to-cidrs'), within(at, 'expose-to-cidrs'), decodeText);
  });
  if (networks.size > 0 && decodeBoolean(members.get('expose'), within(place, 'expose')))
    throw refused(place, `${called} has expose and exposed-endpoints`, 'Remove one.');
  const wrong = [...networks.values()].flat().find((network) => !isNetwork(network));
  if (wrong !== undefined)
    throw refused(place, `${quoted(wrong)}, to which ${called} is exposed, is no network such as 10.0.0.0/8`);
}

function isNetwork(text: string): boolean {
  const [address = '', bits = '', ...others] = text.split('/');
  const version = isIP(address);
  return others.length === 0 && version > 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
}
