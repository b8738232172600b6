// Time and chance are handed in, so that a test can hold the clock still and know the next id.

/** The present moment. */
export type Now = () => Date;

/** How a moment is written on the wire and in the records: RFC 3339, UTC, milliseconds. */
export const timestamp = (moment: Date): string => moment.toISOString();

export const seconds = (count: number): number => count * 1000;
export const minutes = (count: number): number => seconds(count * 60);
export const hours = (count: number): number => minutes(count * 60);
export const days = (count: number): number => hours(count * 24);

/** The moment so many milliseconds after another. */
export const after = (moment: Date, milliseconds: number): Date => new Date(moment.getTime() + milliseconds);

/** A clock further off than this from what is to be expected is in doubt, until it is set right or accepted. */
export const clockTolerance = hours(24);
