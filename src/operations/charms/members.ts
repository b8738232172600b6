// The members of an answer that juju asks for, with dots between those inside one another: `result.summary`.

/** What is wanted below a member; nothing below it means all of it. */
export type Wanted = Map<string, Wanted>;

/** Everything is wanted where nothing is said. */
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

/** What is wanted inside a member; nothing where the member itself is not wanted. */
export const within = (wanted: Wanted, name: string): Wanted | undefined =>
  wanted.size === 0 ? wanted : wanted.get(name);

/** A value with what is wanted of it. Names that it does not have are passed over. */
export function only<Value>(value: Value, wanted: Wanted): Value {
  if (wanted.size === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one: unknown) => only(one, wanted)) as Value;
  const kept = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const below = within(wanted, name);
    return below === undefined ? [] : [[name, only(member as unknown, below)]];
  });
  return Object.fromEntries(kept) as Value;
}
