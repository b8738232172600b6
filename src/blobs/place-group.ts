// Uploads or downloads that share a number of places, over all processes of a store: those of one sender, or all.
//
// Each process holds a share of the places, a few more than it needs, so that most uploads write no row. A process that
// refuses an upload because other processes hold the rest writes another row; the other processes check for it, release
// places that they do not need, and end slow uploads.
import { minutes } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { minPace, type Pace } from './pace.ts';
import type { Shares } from './shares.ts';

export interface ActiveUpload {
  pace: Pace;
  /** Ends it with a reason, even while it waits. */
  stop: (reason: Error) => void;
  end(): void;
  leave(): void;
}

export interface PlaceGroupOptions {
  /** The name of the share. */
  name: string;
  /** The number of places of all processes together. */
  maxPlaces: number;
  /** The increment of this process's share, after its first place. */
  step: number;
  /** The error message when no place is free. */
  refusal: string;
  /** Ends a slow upload; returns false if none is slow. */
  makeRoom: () => boolean;
  shares: Shares;
  elapsed: () => number;
}

/** How long a place is kept for a sender that may return. */
const idlePlaceMs = minutes(1);

export class PlaceGroup<Holder = ActiveUpload> {
  /** The holders of places in this process. */
  readonly holders = new Set<Holder>();
  readonly #options: PlaceGroupOptions;
  /** How many places this process holds. */
  #held = 0;
  /** When it last had an upload. */
  #usedAt: number;
  /** Since when this process has been waiting for places that other processes hold. */
  #waitingSince: number | undefined;

  constructor(options: PlaceGroupOptions) {
    this.#options = options;
    this.#usedAt = options.elapsed();
  }

  /** Whether the group has no state and can be removed. */
  get isForgotten(): boolean {
    return this.holders.size === 0 && this.#held === 0 && this.#waitingSince === undefined;
  }

  /** Refuses another upload if this process alone has reached the maximum. */
  mustHaveRoom(): void {
    if (this.holders.size >= this.#options.maxPlaces && !this.#options.makeRoom()) throw this.#full();
  }

  /** Obtains a place for another upload, or refuses it. */
  async admit(): Promise<void> {
    this.mustHaveRoom();
    const number = this.holders.size + 1;
    if (number > this.#held) {
      // Take at most half of the remaining places, because other processes need some, too.
      const ahead = (left: number): number => Math.min(this.#inSteps(number), number + Math.floor((left - number) / 2));
      await this.#hold((left) => (left < number ? this.#held : ahead(left)));
    }
    if (this.holders.size >= this.#held && !this.#options.makeRoom()) {
      await this.#waitSince(this.#options.elapsed());
      throw this.#full();
    }
    this.#usedAt = this.#options.elapsed();
  }

  /** Releases places that are not needed here; more of them if another process is waiting. */
  async settle(held: readonly { name: string }[]): Promise<void> {
    const { name, elapsed, makeRoom } = this.#options;
    const now = elapsed();
    const isWanted = held.some((share) => share.name === waitingFor(name));
    if (isWanted) makeRoom();
    const number = this.holders.size;
    if (number > 0) this.#usedAt = now;
    const isIdle = now - this.#usedAt >= idlePlaceMs;
    await this.#hold(() => (isWanted || isIdle ? number : Math.min(this.#held, this.#inSteps(number))));
    if (now - (this.#waitingSince ?? now) >= minPace.milliseconds) await this.#waitSince(undefined);
  }

  /** Holds a number of places, as far as they are free; `decide` gets the number that the other processes leave. */
  async #hold(decide: (left: number) => number): Promise<void> {
    const { name, maxPlaces, shares } = this.#options;
    if (decide(Infinity) === this.#held) return;
    this.#held = await shares.hold(name, (others) => Math.min(maxPlaces - others, decide(maxPlaces - others)));
  }

  /** Records since when this process has been waiting, or that it is not. */
  async #waitSince(moment: number | undefined): Promise<void> {
    const isSaid = this.#waitingSince !== undefined;
    const isTrue = moment !== undefined;
    if (isSaid !== isTrue) await this.#options.shares.hold(waitingFor(this.#options.name), () => (isTrue ? 1 : 0));
    this.#waitingSince = moment;
  }

  #inSteps(number: number): number {
    const { step, maxPlaces } = this.#options;
    return number <= 1 ? 1 : Math.min(maxPlaces, Math.ceil(number / step) * step);
  }

  #full(): Refusal {
    return new Refusal(
      'too-many-requests',
      `${this.#options.refusal}; try again in ten seconds.`,
      minPace.milliseconds / 1000,
    );
  }
}

const waitingFor = (name: string): string => `waiting for ${name}`;
