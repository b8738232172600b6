// Time. The clock is a parameter of its users, so that tests can control it.

/** The present moment. */
export type Now = () => Date;

/** Formats a moment for the wire and the records: RFC 3339, UTC, milliseconds. */
export const timestamp = (moment: Date): string => moment.toISOString();

export const seconds = (count: number): number => count * 1000;
export const minutes = (count: number): number => seconds(count * 60);
export const hours = (count: number): number => minutes(count * 60);
export const days = (count: number): number => hours(count * 24);

/** Adds milliseconds to a moment. */
export const after = (moment: Date, milliseconds: number): Date => new Date(moment.getTime() + milliseconds);

/** A clock that differs from the expected time by more than this is in doubt until it is corrected or accepted. */
export const clockTolerance = hours(24);

/** The clocks of two hosts of a store differ by at most this: a host further from its engines takes no new requests. */
export const maxHostClockDifferenceMs = seconds(5);
