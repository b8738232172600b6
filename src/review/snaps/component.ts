// Checks a component of a snap against its meta/component.yaml, as a device does (snapd's snap/component.go).
import { checkComponentFiles } from '../snap-rules/container.ts';
import { Faults, YamlFields } from '../snap-rules/fields.ts';
import type { DuplicateKeys } from '../snap-rules/model.ts';
import { checkProvenance, isLonger, maxDescription, maxSummary } from '../snap-rules/rules.ts';
import { readMetaFile, requireMetaFolder, type MetaFile } from './meta-file.ts';
import { isSnapVersion, snapVersionRule } from './snap-yaml.ts';
import { openImage, type Image } from '../squashfs/image.ts';
import type { UploadBytes } from '../squashfs/source.ts';
import { Unacceptable, plain, quoted } from '../unacceptable.ts';
import type { DeclaredComponent } from '../verdict.ts';
import { readTypedYaml } from '../yaml.ts';

const file = 'meta/component.yaml';
const metaFile: MetaFile = { container: 'component', name: 'component.yaml' };
/** A device refuses every other key. */
const keys = ['component', 'type', 'version', 'summary', 'description', 'provenance'];

/** Throws `Unacceptable` if a device would not install the file as this component of the snap `snapName`. */
export function checkComponent(source: UploadBytes, snapName: string, declared: DeclaredComponent): void {
  const image = openImage(source);
  const text = readComponentYaml(image);
  const faults = new Faults();
  checkYaml(text, snapName, declared, faults);
  checkComponentFiles(image, faults);
  const [first, ...others] = faults.sentences;
  if (first !== undefined) throw new Unacceptable(first, ...others);
}

function readComponentYaml(image: Image): string {
  const meta = image.find(image.root, ['meta']).get('meta');
  const inMeta = image.find(requireMetaFolder(meta, metaFile), ['component.yaml', 'snap.yaml']);
  if (inMeta.has('snap.yaml') && !inMeta.has('component.yaml')) {
    throw new Unacceptable("The file is a snap, but was pushed as a component. Push one of the snap's components.");
  }
  return readMetaFile(image, inMeta.get('component.yaml'), metaFile);
}

function checkYaml(text: string, snapName: string, declared: DeclaredComponent, faults: Faults): void {
  const duplicates: DuplicateKeys = new WeakMap();
  const document = readTypedYaml(text, file, duplicates);
  if (!(document instanceof Map)) {
    throw new Unacceptable(`${file} must be a mapping, with lines such as 'component: ${snapName}+${declared.name}'.`);
  }
  const component = new YamlFields(document, file, faults);
  if (duplicates.has(document)) faults.add(`${file} has a key twice: a device refuses that.`);
  for (const [key] of component) {
    if (!keys.includes(key)) faults.add(`${file} has the key ${quoted(key)}, which no device knows: remove it.`);
  }
  checkIdentity(component, snapName, declared);
  checkTexts(component);
}

/** Checks that it is the component that it was pushed as. */
function checkIdentity(component: YamlFields, snapName: string, declared: DeclaredComponent): void {
  const { faults } = component;
  const [name, expectedName] = [component.text('component'), `${snapName}+${declared.name}`];
  if (name !== expectedName) {
    faults.add(
      `The component is called ${quoted(name)} in ${file}, but was pushed as '${plain(expectedName)}'. Push the file of that component, or change the name in it.`,
    );
  }
  const type = component.text('type');
  if (type !== declared.type) {
    faults.add(
      `The component is of the type ${quoted(type)} in ${file}, but the snap declares ${quoted(declared.name)} as ${quoted(declared.type)}. Make both the same.`,
    );
  }
}

function checkTexts(component: YamlFields): void {
  const { faults } = component;
  const version = component.text('version');
  if (version !== '' && !isSnapVersion(version))
    faults.add(`The version ${quoted(version)} in ${file} is not possible. ${snapVersionRule}`);
  for (const [key, max] of [
    ['summary', maxSummary],
    ['description', maxDescription],
  ] as const) {
    if (isLonger(component.text(key), max))
      faults.add(`The ${key} in ${file} has more than ${String(max)} characters, which no device takes: shorten it.`);
  }
  checkProvenance(component.text('provenance'), file, faults);
}
