// A word of a line that somebody may copy into a shell, such as the path of a folder with a blank in its name.

/** In double quotes where it needs any, because such a line often stands in single ones. */
export const shellWord = (text: string): string =>
  /^[\p{L}\p{N}@%+=:,./_-]+$/u.test(text) ? text : `"${text.replaceAll(/["$`\\]/g, '\\$&')}"`;
