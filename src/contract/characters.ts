// Counts the characters of a text, for bounds in schemas.

/** The number of Unicode characters, some of them two JavaScript code units. */
export function charactersOf(text: string): number {
  let characters = 0;
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) characters++;
  return characters;
}
