// The addresses of brands in the console.
export const brandsAddress = '/console/brands';

/** The address of a brand, or of a page below it. */
export const brandAddress = (accountId: string, ...below: readonly string[]): string =>
  `${brandsAddress}/${[accountId, ...below].map((part) => encodeURIComponent(part)).join('/')}`;
