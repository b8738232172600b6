// The form handlers of the console by address: a page that shows a form again also shows the summary of its handler.

interface DeclaredFormHandler {
  pattern: RegExp;
  summary: string;
}

const declared: DeclaredFormHandler[] = [];

/** Declares the summary of a form handler; `:name` stands for one part of an address. */
export function declareFormHandler(path: string, summary: string): void {
  const pattern = path.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+');
  declared.push({ pattern: new RegExp(`^${pattern}$`), summary });
}

/** The summary of the form handler at an address; undefined if there is none. */
export const findFormHandlerSummary = (address: string): string | undefined =>
  declared.find(({ pattern }) => pattern.test(address))?.summary;
