// The environment variables that tell publishing tools the address of the store, according to the tools' source code.

export interface StoreAddresses {
  /** The address of the store, without a trailing slash. */
  base: string;
  /** The host of the image registry, if it is a different one. */
  registry: string | undefined;
}

/** The variables for addresses, by name. The variable for the token is in `tokenVariable`. */
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
