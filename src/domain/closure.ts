// What is missing: what the packages that are released here need, and nobody can fetch here.

/** One thing that somebody needs. */
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
  /** For which architecture; `all` where any will do. */
  architecture: string;
  /** Of which track; any will do where none is said. */
  track?: string | undefined;
  /** Who needs it. */
  by: string;
}

/** What several may need alike, and is not there. */
export interface Missing extends Omit<Need, 'by'> {
  by: string[];
}

/** Gathers needs and what there is, in whatever order, and says at the end what is missing. */
export class Closure {
  /** By name, the architectures and the tracks that can be fetched, each pair as `ARCHITECTURE TRACK`. */
  readonly #there = new Map<string, Set<string>>();
  readonly #needs = new Map<string, Missing & { names: Set<string> }>();

  /** Says that a name can be fetched for an architecture, from a channel. */
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

  /** What most need comes first. */
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
