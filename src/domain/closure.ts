// What is missing: what the packages that are released here need, and nobody can fetch here.

/** One thing that somebody needs. */
export interface Need {
  kind:
    'base' | 'snapd' | 'content provider' | 'gadget' | 'kernel' | 'snap of a model' | 'resource' | 'charm of a bundle';
  /** The name of a snap or a charm, or CHARM:RESOURCE. */
  name: string;
  /** For which architecture; `all` where any will do. */
  architecture: string;
  /** Who needs it. */
  by: string;
}

/** What several may need alike, and is not there. */
export interface Missing extends Omit<Need, 'by'> {
  by: string[];
}

/** Gathers needs and what there is, in whatever order, and says at the end what is missing. */
export class Closure {
  readonly #there = new Map<string, Set<string>>();
  readonly #needs = new Map<string, Missing & { names: Set<string> }>();

  /** Says that a name can be fetched for an architecture. */
  provide(name: string, architecture: string): void {
    const known = this.#there.get(name) ?? new Set();
    this.#there.set(name, known.add(architecture));
  }

  need({ by, ...what }: Need): void {
    const key = [what.kind, what.name, what.architecture].join('\0');
    const known = this.#needs.get(key) ?? { ...what, by: [], names: new Set() };
    if (!known.names.has(by)) known.by.push(by);
    known.names.add(by);
    this.#needs.set(key, known);
  }

  /** What most need comes first. */
  missing(): Missing[] {
    return [...this.#needs.values()]
      .filter(({ name, architecture }) => !this.#has(name, architecture))
      .map(({ kind, name, architecture, by }) => ({ kind, name, architecture, by: by.sort() }))
      .sort((a, b) => b.by.length - a.by.length || (a.name < b.name ? -1 : 1));
  }

  #has(name: string, architecture: string): boolean {
    const known = this.#there.get(name);
    return known !== undefined && (architecture === 'all' || known.has('all') || known.has(architecture));
  }
}
