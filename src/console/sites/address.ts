// The addresses of the sources of transfers in the console.
export const sitesAddress = '/console/sites';

export const sourceAddress = (name: string): string => `${sitesAddress}/${encodeURIComponent(name)}`;
