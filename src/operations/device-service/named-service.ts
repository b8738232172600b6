// The device service that a gadget names: a device that comes here by its proxy store says which it would have asked.
import type { IncomingHttpHeaders } from 'node:http';

import { Refusal } from '#domain/refusal.ts';
import type { Config } from '#src/config.ts';

/**
 * Refuses a device whose gadget names another device service than this store's own. It is never asked on the device's
 * behalf: whoever sends the header would choose where this store connects to.
 */
export function refuseOtherService(
  headers: IncomingHttpHeaders,
  { http: { base_url: baseUrl } }: Pick<Config, 'http'>,
): void {
  const [named = ''] = [headers['x-snap-device-service-url'] ?? ''].flat();
  if (named === '' || isOwn(named, baseUrl)) return;
  throw new Refusal(
    'forbidden',
    `The gadget of this device names the device service ${JSON.stringify(named.slice(0, 200))}, and this store asks no other one; ` +
      `let 'device-service.url' be ${baseUrl}/device-service/, or leave it out.`,
  );
}

/** Whether an address is below this store's own, where it answers devices: `/device-service/`, or `/` for the older names. */
function isOwn(named: string, baseUrl: string): boolean {
  if (!URL.canParse(named)) return false;
  const { origin, pathname, username, password } = new URL(named);
  const own = new URL(baseUrl);
  const below = own.pathname.replace(/\/$/, '');
  const path = pathname.replace(/\/$/, '');
  return (
    origin === own.origin && username === '' && password === '' && [below, `${below}/device-service`].includes(path)
  );
}
