// Selects the members of a response that juju requests; dots separate nested members: `result.summary`.

/** The requested members below a member; an empty map selects all of it. */
export type Wanted = Map<string, Wanted>;

/** Without fields, everything is selected. */
export function wantedOf(fields = ''): Wanted {
  const wanted: Wanted = new Map();
  for (const field of fields.split(',').filter((one) => one !== '')) {
    let at = wanted;
    for (const name of field.split('.')) {
      const below: Wanted = at.get(name) ?? new Map<string, Wanted>();
      at.set(name, below);
      at = below;
    }
  }
  return wanted;
}

/** The requested members inside a member; undefined if the member itself is not requested. */
export const within = (wanted: Wanted, name: string): Wanted | undefined =>
  wanted.size === 0 ? wanted : wanted.get(name);

/** A value with only its requested members. Unknown names are ignored. */
export function only<Value>(value: Value, wanted: Wanted): Value {
  if (wanted.size === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one: unknown) => only(one, wanted)) as Value;
  const kept = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const below = within(wanted, name);
    return below === undefined ? [] : [[name, only(member as unknown, below)]];
  });
  return Object.fromEntries(kept) as Value;
}
