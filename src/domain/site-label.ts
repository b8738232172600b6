// Labels of sites: how far what a site holds may go. A site knows some, in their order, and has one of them or none.

/** What a site says of labels in its configuration. */
export interface SiteLabels {
  label?: string;
  /** The labels that there are, from the lowest to the highest. */
  levels?: readonly string[];
}

/** Whether what has one label may come to a site that has another one; what has none may come everywhere. */
export function mayCome(label: string | undefined, { label: own, levels = [] }: SiteLabels): boolean {
  if (label === undefined) return true;
  const [height, most] = [levels.indexOf(label), own === undefined ? -1 : levels.indexOf(own)];
  return height !== -1 && height <= most;
}

/** In words: `no label`, or `the label open`. */
export const labelText = (label: string | undefined): string =>
  label === undefined ? 'no label' : `the label ${label}`;
