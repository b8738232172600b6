// Extracts the visible text of a page.
const signs: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&rsquo;': '’',
  '&amp;': '&',
};

/** The text in one line. Inline elements stay joined; blocks are separated. */
export const textOf = (written: string): string =>
  written
    .replace(/<\/?(?:a|b|code|em|span|strong|time)(?: [^>]*)?>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(?:lt|gt|quot|#39|rsquo|amp);/g, (sign) => signs[sign]!)
    .replace(/\s+/g, ' ')
    .trim();
