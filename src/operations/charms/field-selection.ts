// Selects the members of a response that juju requests; dots separate nested members: `result.summary`.

/** The requested members below a member; an empty map selects all of it. */
export type CharmFieldSelection = Map<string, CharmFieldSelection>;

/** Without fields, everything is selected. */
export function parseFieldSelection(fields = ''): CharmFieldSelection {
  const selection: CharmFieldSelection = new Map();
  for (const field of fields.split(',').filter((text) => text !== '')) {
    let at = selection;
    for (const name of field.split('.')) {
      const below: CharmFieldSelection = at.get(name) ?? new Map<string, CharmFieldSelection>();
      at.set(name, below);
      at = below;
    }
  }
  return selection;
}

/** The requested members inside a member; undefined if the member itself is not requested. */
export const selectionWithin = (selection: CharmFieldSelection, name: string): CharmFieldSelection | undefined =>
  selection.size === 0 ? selection : selection.get(name);

/** A value with only its requested members. Unknown names are ignored. */
export function selectFields<Value>(value: Value, selection: CharmFieldSelection): Value {
  if (selection.size === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => selectFields(item, selection)) as Value;
  const entries = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const below = selectionWithin(selection, name);
    return below === undefined ? [] : [[name, selectFields(member as unknown, below)]];
  });
  return Object.fromEntries(entries) as Value;
}
