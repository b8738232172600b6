// Finds the word that a misspelt word stands for, for "did you mean …?".

/**
 * Returns the word nearest to `typed`, or undefined if none is near: at most a third of the letters differ, or one word begins the other.
 */
export function nearest(typed: string, words: Iterable<string>): string | undefined {
  // A longer text is not a misspelt word, and the time of the distance below grows with the product of the lengths.
  if (typed.length > 64) return undefined;
  const typedWord = typed.toLowerCase();
  let best: { word: string; distance: number } | undefined;
  for (const word of words) {
    const begun =
      Math.min(typedWord.length, word.length) >= 3 && (word.startsWith(typedWord) || typedWord.startsWith(word));
    // One wrong letter is nearer than a word that begins the other or is begun by it; of those, the one with the nearest length wins.
    const edits = editDistance(typedWord, word.toLowerCase());
    const distance = begun ? Math.min(edits, 1.5 + Math.abs(typedWord.length - word.length) / 1000) : edits;
    const isNear = begun || distance <= Math.max(1, Math.floor(word.length / 3));
    if (isNear && distance < (best?.distance ?? Infinity)) {
      best = { word, distance };
    }
  }
  return best?.word;
}

/** The number of letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let least = Math.min(above[column]! + 1, current[column - 1]! + 1, above[column - 1]! + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) least = Math.min(least, before[column - 2]! + 1);
      current.push(least);
    }
    before = above;
    above = current;
  }
  return above[to.length]!;
}
