// Addresses with a query.

/** Returns an address with these members in its query; leaves out empty ones. */
export function withQuery(address: string, members: Readonly<Record<string, string | undefined>>): string {
  const parameters = Object.entries(members).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '');
  return parameters.length === 0 ? address : `${address}?${new URLSearchParams(parameters).toString()}`;
}
