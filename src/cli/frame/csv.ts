// Lines for a spreadsheet (RFC 4180).

/** A line of these cells, with its end. */
export const csvText = (cells: readonly string[]): string => `${cells.map(cell).join(',')}\r\n`;

/**
 * A cell between quotes. What a spreadsheet would take for a formula begins with an apostrophe: names and details come from
 * others.
 */
const cell = (text: string): string => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
