// The addresses of packages in the console.

interface PackageLinkTarget {
  namespace: string;
  name: string;
}

/** The address of a package, or of a page below it: `/console/packages/snap/hello/revisions/7`. */
export const addressOf = ({ namespace, name }: PackageLinkTarget, ...below: readonly (string | number)[]): string =>
  `/console/packages/${[namespace, name, ...below].map((part) => encodeURIComponent(part)).join('/')}`;
