// The parts of a serving process, in the order of their start; they stop in reverse order, also after a failure.

/** Hooks for the start and stop of parts; for tests. If `starting` throws, the part does not start. */
export interface PartsWatch {
  starting?(name: string): void;
  stopping?(name: string): void;
}

/** Stops a part; `served` says whether every part had started and the process has answered requests. */
type Stop<Part> = (part: Part, served: boolean) => unknown;

export class ApplianceParts {
  readonly #watch: PartsWatch;
  readonly #started: { name: string; stop: (served: boolean) => unknown }[] = [];
  #served = false;

  constructor(watch: PartsWatch = {}) {
    this.#watch = watch;
  }

  /** Builds a part and remembers how to stop it; a build that fails must leave nothing of its own behind. */
  async start<Part>(
    name: string,
    build: () => Part | Promise<Part>,
    stop: Stop<Part> = () => undefined,
  ): Promise<Part> {
    this.#watch.starting?.(name);
    const part = await build();
    this.#started.push({ name, stop: (served) => stop(part, served) });
    return part;
  }

  /** Records that every part has started. */
  serving(): void {
    this.#served = true;
  }

  /** Stops every started part once, in reverse order; throws the first failure after the last stop. */
  async stop(): Promise<void> {
    const failures: unknown[] = [];
    for (let part = this.#started.pop(); part !== undefined; part = this.#started.pop()) {
      this.#watch.stopping?.(part.name);
      try {
        await part.stop(this.#served);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
