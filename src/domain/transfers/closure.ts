// The closure: finds packages that the released packages need and that cannot be fetched from this store.

/** A package that another one needs. */
export interface PackageNeed {
  kind:
    | 'base'
    | 'snapd'
    | 'content provider'
    | 'gadget'
    | 'kernel'
    | 'snap of a model'
    | 'resource'
    | 'charm of a bundle'
    | 'wish';
  /** The name of a snap or a charm, or CHARM:RESOURCE. */
  name: string;
  /** The required architecture; `all` if any will do. */
  architecture: string;
  /** The required track; any if undefined. */
  track?: string | undefined;
  /** The thing that needs it, such as a package or a model. */
  neededBy: string;
}

/** A need that is not met, with everything that needs it. */
export interface UnmetNeed extends Omit<PackageNeed, 'neededBy'> {
  neededBy: string[];
}

/** Collects needs and available packages in any order, then reports the missing ones. */
export class Closure {
  /** The available pairs of architecture and track by name, as `ARCHITECTURE TRACK`. */
  readonly #there = new Map<string, Set<string>>();
  readonly #needs = new Map<string, UnmetNeed & { names: Set<string> }>();

  /** Declares that a package can be fetched for an architecture from a channel. */
  provide(name: string, architecture: string, channel: string): void {
    const available = this.#there.get(name) ?? new Set();
    this.#there.set(name, available.add(`${architecture} ${channel.split('/', 1)[0]!}`));
  }

  need({ neededBy, ...requirement }: PackageNeed): void {
    const key = [requirement.kind, requirement.name, requirement.architecture, requirement.track].join('\0');
    const entry = this.#needs.get(key) ?? { ...requirement, neededBy: [], names: new Set() };
    if (!entry.names.has(neededBy)) entry.neededBy.push(neededBy);
    entry.names.add(neededBy);
    this.#needs.set(key, entry);
  }

  /** The needs that are not met; the most wanted first. */
  missing(): UnmetNeed[] {
    return [...this.#needs.values()]
      .filter((need) => !this.#has(need))
      .map(({ kind, name, architecture, track, neededBy }) => {
        const requirement = { kind, name, architecture, ...(track !== undefined && { track }) };
        return { ...requirement, neededBy: neededBy.sort() };
      })
      .sort((a, b) => b.neededBy.length - a.neededBy.length || (a.name < b.name ? -1 : 1));
  }

  #has({ name, architecture, track }: Pick<PackageNeed, 'name' | 'architecture' | 'track'>): boolean {
    return [...(this.#there.get(name) ?? [])].some((pair) => {
      const [its = '', of = ''] = pair.split(' ');
      return [architecture, its].includes('all') || its === architecture ? track === undefined || of === track : false;
    });
  }
}
