/** How many there are of something, for people: `1 token`, `3 tokens`. */
export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${String(count)} ${count === 1 ? one : several}`;
