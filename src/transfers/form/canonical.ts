// JSON of which there is one form only: keys in the order of their UTF-16 units, no white space (RFC 8785 without its numbers
// that are not whole). So what was signed can be made again from what it says.

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one: Json) =>
    one !== null && typeof one === 'object' && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}
