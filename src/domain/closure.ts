// The closure: finds packages that the released packages need and that cannot be fetched from this store.

/** A package that another one needs. */
export interface Need {
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
  by: string;
}

/** A need that is not met, with everything that needs it. */
export interface Missing extends Omit<Need, 'by'> {
  by: string[];
}

/** Collects needs and available packages in any order, then reports the missing ones. */
export class Closure {
  /** The available pairs of architecture and track by name, as `ARCHITECTURE TRACK`. */
  readonly #there = new Map<string, Set<string>>();
  readonly #needs = new Map<string, Missing & { names: Set<string> }>();

  /** Declares that a package can be fetched for an architecture from a channel. */
  provide(name: string, architecture: string, channel: string): void {
    const known = this.#there.get(name) ?? new Set();
    this.#there.set(name, known.add(`${architecture} ${channel.split('/', 1)[0]!}`));
  }

  need({ by, ...what }: Need): void {
    const key = [what.kind, what.name, what.architecture, what.track].join('\0');
    const known = this.#needs.get(key) ?? { ...what, by: [], names: new Set() };
    if (!known.names.has(by)) known.by.push(by);
    known.names.add(by);
    this.#needs.set(key, known);
  }

  /** The needs that are not met; the most wanted first. */
  missing(): Missing[] {
    return [...this.#needs.values()]
      .filter((one) => !this.#has(one))
      .map(({ kind, name, architecture, track, by }) => {
        const what = { kind, name, architecture, ...(track !== undefined && { track }) };
        return { ...what, by: by.sort() };
      })
      .sort((a, b) => b.by.length - a.by.length || (a.name < b.name ? -1 : 1));
  }

  #has({ name, architecture, track }: Pick<Need, 'name' | 'architecture' | 'track'>): boolean {
    return [...(this.#there.get(name) ?? [])].some((pair) => {
      const [its = '', of = ''] = pair.split(' ');
      return [architecture, its].includes('all') || its === architecture ? track === undefined || of === track : false;
    });
  }
}
