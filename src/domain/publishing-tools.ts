// How publishing tools are told where the store is: by variables of their environment, as their own source reads them.

export interface StoreAddresses {
  /** The address of the store, without a slash at its end. */
  base: string;
  /** The host of the image registry, where it is another one. */
  registry: string | undefined;
}

/** The variables that hold addresses, by their names; what holds the token beside them is `tokenVariable`. */
export function toolAddresses(
  tool: 'snapcraft' | 'charmcraft',
  { base, registry }: StoreAddresses,
): Record<string, string> {
  switch (tool) {
    case 'snapcraft':
      return {
        SNAPCRAFT_STORE_AUTH: 'onprem',
        STORE_DASHBOARD_URL: `${base}/publishergw`,
        STORE_UPLOAD_URL: base,
      };
    case 'charmcraft':
      return {
        CHARMCRAFT_STORE_API_URL: `${base}/publishergw`,
        CHARMCRAFT_UPLOAD_URL: base,
        CHARMCRAFT_REGISTRY_URL: registry === undefined ? base : `https://${registry}`,
        CHARMCRAFT_STORE_SSO_URL: base,
      };
  }
}

export const tokenVariable = { snapcraft: 'SNAPCRAFT_STORE_CREDENTIALS', charmcraft: 'CHARMCRAFT_AUTH' } as const;
