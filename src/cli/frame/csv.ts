// Writes lines of CSV (RFC 4180) for spreadsheets.

/** One line of CSV, with its line end. */
export const csvText = (cells: readonly string[]): string => `${cells.map(cell).join(',')}\r\n`;

/** A quoted cell. An apostrophe keeps a spreadsheet from running text as a formula: names and details are untrusted input. */
const cell = (text: string): string => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
