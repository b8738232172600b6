// Labels of sites: how far the content of a site may travel. A site knows an ordered list of labels and has one of them
// or none.

/** The labels in the configuration of a site. */
export interface SiteLabels {
  label?: string;
  /** The known labels, from the lowest to the highest. */
  levels?: readonly string[];
}

/** Whether content with one label may be received by a site with another. Content without a label may go anywhere. */
export function mayReceive(label: string | undefined, { label: own, levels = [] }: SiteLabels): boolean {
  if (label === undefined) return true;
  const [height, maxHeight] = [levels.indexOf(label), own === undefined ? -1 : levels.indexOf(own)];
  return height !== -1 && height <= maxHeight;
}

/** In words: `no label`, or `the label open`. */
export const labelText = (label: string | undefined): string =>
  label === undefined ? 'no label' : `the label ${label}`;
