// The addresses of people and tokens in the console.

export const peopleAddress = '/console/people';
export const tokensAddress = '/console/people/tokens';

/** The address of an account, or of a page below it. */
export const accountAddress = (id: string, ...below: readonly string[]): string =>
  `${peopleAddress}/${[id, ...below].map((part) => encodeURIComponent(part)).join('/')}`;
