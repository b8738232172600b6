// Addresses with a query.

/** An address with these members in its query; those that are empty are left out. */
export function withQuery(address: string, members: Readonly<Record<string, string | undefined>>): string {
  const asked = Object.entries(members).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '');
  return asked.length === 0 ? address : `${address}?${new URLSearchParams(asked).toString()}`;
}
