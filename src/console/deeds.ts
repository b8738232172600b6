// What the forms of the console do, by their addresses: a page that offers a form again says what it does.

interface DeclaredDeed {
  pattern: RegExp;
  summary: string;
}

const declared: DeclaredDeed[] = [];

/** Declares what a form to a path does; `:name` stands for one part of an address. */
export function declareDeed(path: string, summary: string): void {
  const pattern = path.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+');
  declared.push({ pattern: new RegExp(`^${pattern}$`), summary });
}

/** What a form to an address does, in a sentence; nothing if no form goes there. */
export const summaryOfDeed = (address: string): string | undefined =>
  declared.find(({ pattern }) => pattern.test(address))?.summary;
