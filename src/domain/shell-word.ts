// Quotes a word of a command line that a person may copy into a shell, such as a path with a blank.

/** Uses double quotes if it needs any, because the line itself is often shown in single quotes. */
export const shellWord = (text: string): string =>
  /^[\p{L}\p{N}@%+=:,./_-]+$/u.test(text) ? text : `"${text.replaceAll(/["$`\\]/g, '\\$&')}"`;
