// The bill of materials of a revision or an image: the software that it says it contains. A list that could not be read
// in full says so by its gaps, and never counts as complete.
import { formatCount } from '../quantities.ts';

/** The packaging systems that components come from; each has its own names and its own order of versions. */
export const ecosystems = ['apk', 'deb', 'npm', 'pypi'] as const;
export type ComponentEcosystem = (typeof ecosystems)[number];

export interface BillComponent {
  ecosystem: ComponentEcosystem;
  name: string;
  /** Null for a requirement that allows several versions. */
  version: string | null;
  architecture?: string;
  /** The source package, if the list names another than `name` and `version`. */
  source?: { name: string; version: string };
  /** A requirement of a charm as it is written, such as `ops>=2.1`. */
  requirement?: string;
}

/** A release of a distribution, as in os-release: `ubuntu` and `22.04`. */
export interface DistributionRelease {
  id: string;
  version: string;
}

export interface BillOfMaterials {
  distribution: DistributionRelease | null;
  /** The files that it was read from, by their paths in the package. */
  files: string[];
  /** Why it may be incomplete, as sentences; empty if all lists were read in full. */
  gaps: string[];
  components: BillComponent[];
  /** The format of the document, if the bill is a claim of the publisher and was not read from the content itself. */
  claim?: 'CycloneDX' | 'SPDX';
  /** The image, by its sha256, if the content is no image but an attestation that an index lists beside it. */
  about?: string;
}

/** A bill that has nothing but the reason why it is unknown. */
export const unknownBill = (gap: string): BillOfMaterials => ({
  distribution: null,
  files: [],
  gaps: [gap],
  components: [],
});

const maxComponents = 20_000;
const maxGaps = 20;
/** Names and versions of all four ecosystems. An entry with another or a longer text is not a component. */
const name = /^[A-Za-z0-9@][A-Za-z0-9._+@/-]{0,213}$/;
const version = /^[A-Za-z0-9][A-Za-z0-9.+~:_!^-]{0,127}$/;
const architecture = /^[a-z0-9_-]{1,32}$/;

/** Collects a bill of materials within limits, without duplicates, in an order that follows from its content alone. */
export class BillCollector {
  readonly #components = new Map<string, BillComponent>();
  readonly #files = new Set<string>();
  readonly #gaps = new Set<string>();
  distribution: DistributionRelease | null = null;

  /** Adds a component. Returns false if its name, version or architecture is invalid; the caller adds the gap. */
  add(component: BillComponent): boolean {
    if (!name.test(component.name)) return false;
    if (component.version !== null && !version.test(component.version)) return false;
    if (component.architecture !== undefined && !architecture.test(component.architecture)) return false;
    const { source } = component;
    if (source !== undefined && !(name.test(source.name) && version.test(source.version))) return false;
    if (this.#components.size >= maxComponents) {
      this.addGap(`More than ${String(maxComponents)} components are listed; the others are left out.`);
      return true;
    }
    this.#components.set(keyOf(component), component);
    return true;
  }

  /** Adds all components that a file lists. If some entries are not components, adds a gap. */
  addFile(file: string, components: Iterable<BillComponent | undefined>): void {
    this.#files.add(file);
    let invalid = 0;
    for (const component of components) if (component === undefined || !this.add(component)) invalid++;
    if (invalid > 0)
      this.addGap(`${file} has ${formatCount(invalid, 'entry', 'entries')} without a name and a version.`);
  }

  addGap(sentence: string): void {
    if (this.#gaps.size < maxGaps) this.#gaps.add(sentence);
  }

  /** The collected bill; without any file it has the gap `unlisted`. */
  finish(unlisted: string): BillOfMaterials {
    if (this.#files.size === 0 && this.#gaps.size === 0) this.addGap(unlisted);
    return {
      distribution: this.distribution,
      files: [...this.#files].sort(),
      gaps: [...this.#gaps],
      components: [...this.#components]
        .sort(([key], [other]) => (key < other ? -1 : 1))
        .map(([, component]) => component),
    };
  }
}

const keyOf = ({ ecosystem, name, version, architecture = '', requirement = '' }: BillComponent): string =>
  [ecosystem, name, version ?? '', architecture, requirement].join(' ');

/** Merges the bills of the images of one package, one per architecture. */
export function mergeBills(bills: readonly BillOfMaterials[]): BillOfMaterials {
  const merged = new BillCollector();
  for (const { distribution, files, gaps, components } of bills) {
    merged.distribution ??= distribution;
    for (const gap of gaps) merged.addGap(gap);
    for (const file of files) merged.addFile(file, []);
    for (const component of components) merged.add(component);
    if (distribution !== null && merged.distribution?.version !== distribution.version)
      merged.addGap('Its images are of different releases of a distribution; the first counts.');
  }
  return merged.finish('It has no image.');
}
