// Uploads or downloads that have a number of places together, at all processes of a store: those of one sender, or all.
//
// Each process holds a share of the places, a few more than it needs, so that most uploads cost no row. Who is refused
// because others hold the rest says so in another row; they look for that, give back what they do not need, and send
// away who is slow.
import { minutes } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { least, type Pace } from './pace.ts';
import type { Shares } from './shares.ts';

export interface Upload {
  pace: Pace;
  /** Ends it with a reason, wherever it is waiting. */
  stop: (reason: Error) => void;
  end(): void;
  leave(): void;
}

export interface PlaceGroupOptions {
  /** What the share is called. */
  name: string;
  /** How many places all processes have together. */
  most: number;
  /** In what steps the share of this process grows, from 1. */
  step: number;
  /** What is said when there is no place left. */
  refusal: string;
  /** Ends one of its uploads that is slow; false when none is. */
  makeRoom: () => boolean;
  shares: Shares;
  elapsed: () => number;
}

/** So long a place is kept for a sender who may come again. */
const keptFor = minutes(1);

export class PlaceGroup<Holder = Upload> {
  /** Who holds a place here. */
  readonly holders = new Set<Holder>();
  readonly #options: PlaceGroupOptions;
  /** How many places this process holds. */
  #held = 0;
  /** When it last had an upload. */
  #usedAt: number;
  /** Since when somebody is waited for who was refused because others held the rest. */
  #waitingSince: number | undefined;

  constructor(options: PlaceGroupOptions) {
    this.#options = options;
    this.#usedAt = options.elapsed();
  }

  /** Whether nothing is known of it but its name. */
  get isForgotten(): boolean {
    return this.holders.size === 0 && this.#held === 0 && this.#waitingSince === undefined;
  }

  /** Refuses one more when this process alone has as many as all may have. */
  mustHaveRoom(): void {
    if (this.holders.size >= this.#options.most && !this.#options.makeRoom()) throw this.#full();
  }

  /** Sees to a place for one more, or refuses it. */
  async admit(): Promise<void> {
    this.mustHaveRoom();
    const number = this.holders.size + 1;
    if (number > this.#held) {
      // Of what is left then at most half, for others come as well.
      const ahead = (left: number): number => Math.min(this.#inSteps(number), number + Math.floor((left - number) / 2));
      await this.#hold((left) => (left < number ? this.#held : ahead(left)));
    }
    if (this.holders.size >= this.#held && !this.#options.makeRoom()) {
      await this.#waitSince(this.#options.elapsed());
      throw this.#full();
    }
    this.#usedAt = this.#options.elapsed();
  }

  /** Gives back what is not needed here; all of that, and more, where somebody was refused elsewhere. */
  async settle(held: readonly { name: string }[]): Promise<void> {
    const { name, elapsed, makeRoom } = this.#options;
    const now = elapsed();
    const isWanted = held.some((share) => share.name === waitingFor(name));
    if (isWanted) makeRoom();
    const number = this.holders.size;
    if (number > 0) this.#usedAt = now;
    const isIdle = now - this.#usedAt >= keptFor;
    await this.#hold(() => (isWanted || isIdle ? number : Math.min(this.#held, this.#inSteps(number))));
    if (now - (this.#waitingSince ?? now) >= least.milliseconds) await this.#waitSince(undefined);
  }

  /** Holds so many places, as far as there are so many; `decide` is told how many the others leave. */
  async #hold(decide: (left: number) => number): Promise<void> {
    const { name, most, shares } = this.#options;
    if (decide(Infinity) === this.#held) return;
    this.#held = await shares.hold(name, (others) => Math.min(most - others, decide(most - others)));
  }

  /** Says since when somebody is waited for, or that nobody is. */
  async #waitSince(moment: number | undefined): Promise<void> {
    const isSaid = this.#waitingSince !== undefined;
    const isTrue = moment !== undefined;
    if (isSaid !== isTrue) await this.#options.shares.hold(waitingFor(this.#options.name), () => (isTrue ? 1 : 0));
    this.#waitingSince = moment;
  }

  #inSteps(number: number): number {
    const { step, most } = this.#options;
    return number <= 1 ? 1 : Math.min(most, Math.ceil(number / step) * step);
  }

  #full(): Refusal {
    return new Refusal(
      'too-many-requests',
      `${this.#options.refusal}; try again in ten seconds.`,
      least.milliseconds / 1000,
    );
  }
}

const waitingFor = (name: string): string => `waiting for ${name}`;
