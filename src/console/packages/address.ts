// Where a package, and what belongs to it, is in the console.

interface Named {
  namespace: string;
  name: string;
}

/** The address of a package, or of what is below it: `/console/packages/snap/hello/revisions/7`. */
export const addressOf = ({ namespace, name }: Named, ...below: readonly (string | number)[]): string =>
  `/console/packages/${[namespace, name, ...below].map((part) => encodeURIComponent(part)).join('/')}`;
