// Where people and tokens are in the console.

export const peopleAddress = '/console/people';
export const tokensAddress = '/console/people/tokens';

/** The address of an account, or of what is below it. */
export const accountAddress = (id: string, ...below: readonly string[]): string =>
  `${peopleAddress}/${[id, ...below].map((part) => encodeURIComponent(part)).join('/')}`;

/** An address with these members in its query; those that are empty are left out. */
export function withQuery(address: string, members: Readonly<Record<string, string | undefined>>): string {
  const asked = Object.entries(members).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '');
  return asked.length === 0 ? address : `${address}?${new URLSearchParams(asked).toString()}`;
}
