// Shows the devices and downloads, as far as known, that a change of a package's channels affects.
import type { Services } from '#http/services.ts';
import { html, type Html } from '#http/pages/html.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { formatCount } from '../parts/values.ts';
import { describeDeviceCount, maxDevices } from '../packages/usage.ts';

/** The devices that have the package, as far as known, and its recent downloads. */
export async function renderAffected(
  { records, now, config }: Pick<Services, 'records' | 'now' | 'config'>,
  { id, namespace }: PublishedPackage,
): Promise<Html> {
  const { recent } = await records.downloads.of(id, now());
  const isKnown = namespace === 'snap' && config.devices.snap && config.devices.remember;
  const seen = isKnown ? await records.seenDevices.holding(id, maxDevices) : undefined;
  const devices = seen?.holds.reduce((sum, [, number]) => sum + number, 0) ?? 0;
  return html`<h2>Affected devices</h2>
    <ul>
      ${seen === undefined ? html`<li>This store does not know which devices have this package.</li>` : html`<li>${describeDeviceCount(devices, seen.looked)} They change at their next refresh.</li>`}
      <li>${formatCount(recent, 'download')} in the last 30 days.</li>
    </ul>`;
}
