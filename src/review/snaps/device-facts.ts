// Reads from the meta/snap.yaml of an accepted revision the facts for devices that its record lacks.
import { firstEpoch, readEpoch, type Epoch } from '#domain/revisions/epoch.ts';
import { readYaml, type Yaml } from '../yaml.ts';

export interface SnapDeviceFacts {
  epoch: Epoch;
  /** The ids of its apps in other systems, such as `org.example.Hello`. */
  commonIds: string[];
  /** Other names of its commands. */
  aliases: string[];
  /** Its components, which are separate files. */
  components: { name: string; description: string | undefined }[];
}

export const noDeviceFacts: SnapDeviceFacts = { epoch: firstEpoch, commonIds: [], aliases: [], components: [] };

/** Reads the facts from a snap.yaml that has passed its review. Invalid members get their defaults. */
export function readDeviceFacts(snapYaml: string): SnapDeviceFacts {
  const document = readYaml(snapYaml, 'meta/snap.yaml');
  if (!(document instanceof Map)) return noDeviceFacts;
  const epoch = document.get('epoch') ?? null;
  const apps = document.get('apps');
  const listed = apps instanceof Map ? [...apps.values()] : [];
  const valuesOf = (key: string): Yaml[] => listed.flatMap((app) => (app instanceof Map ? (app.get(key) ?? []) : []));
  return {
    epoch: readEpoch(epoch instanceof Map ? plain(epoch) : epoch) ?? firstEpoch,
    commonIds: texts(valuesOf('common-id')),
    aliases: texts(valuesOf('aliases')),
    components: componentsIn(document.get('components')),
  };
}

const componentsIn = (value: Yaml | undefined): SnapDeviceFacts['components'] =>
  value instanceof Map
    ? [...value].flatMap(([name, about]) => {
        const description = about instanceof Map ? about.get('description') : undefined;
        return typeof name === 'string'
          ? [{ name, description: typeof description === 'string' ? description : undefined }]
          : [];
      })
    : [];

const texts = (values: Yaml[]): string[] => [...new Set(values.filter((value) => typeof value === 'string'))];

const plain = (epoch: Map<Yaml, Yaml>): Record<string, Yaml | undefined> => ({
  read: epoch.get('read'),
  write: epoch.get('write'),
});
