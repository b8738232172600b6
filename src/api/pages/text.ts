// What a reader reads of a page: its text, without the markup.
const signs: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&rsquo;': '’',
  '&amp;': '&',
};

/** In one line. What stands within a line in the page stands together here too; blocks are kept apart. */
export const textOf = (written: string): string =>
  written
    .replace(/<\/?(?:a|b|code|em|span|strong|time)(?: [^>]*)?>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(?:lt|gt|quot|#39|rsquo|amp);/g, (sign) => signs[sign]!)
    .replace(/\s+/g, ' ')
    .trim();
