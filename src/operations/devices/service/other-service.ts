// Checks the device service that a gadget names: a device that uses this store as its proxy store sends it in a header.
import type { IncomingHttpHeaders } from 'node:http';

import { Refusal } from '#domain/refusal.ts';
import type { Config } from '#configuration/config.ts';

/**
 * Refuses a device with a gadget that names a device service other than this store. The store never forwards the request: the
 * sender of the header could then choose the host that this store connects to.
 */
export function refuseOtherService(
  headers: IncomingHttpHeaders,
  { http: { base_url: baseUrl } }: Pick<Config, 'http'>,
): void {
  const [serviceUrl = ''] = [headers['x-snap-device-service-url'] ?? ''].flat();
  if (serviceUrl === '' || isOwn(serviceUrl, baseUrl)) return;
  throw new Refusal(
    'forbidden',
    `The gadget of this device names the device service ${JSON.stringify(serviceUrl.slice(0, 200))}, but this store does not contact other services. ` +
      `Set 'device-service.url' to ${baseUrl}/device-service/, or remove it.`,
  );
}

/** Whether a URL is this store's device service: `/device-service/` below its base URL, or the base URL itself for the older paths. */
function isOwn(url: string, baseUrl: string): boolean {
  if (!URL.canParse(url)) return false;
  const { origin, pathname, username, password } = new URL(url);
  const own = new URL(baseUrl);
  const below = own.pathname.replace(/\/$/, '');
  const path = pathname.replace(/\/$/, '');
  return (
    origin === own.origin && username === '' && password === '' && [below, `${below}/device-service`].includes(path)
  );
}
