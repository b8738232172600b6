// Job that renews the server's certificate before it expires, without a restart, or reads the site's own certificate again after it was
// replaced.
import { hours } from '#domain/clock.ts';
import type { BackgroundJob } from '../runner.ts';

export const renewCertificate = (renew: () => Promise<boolean>): BackgroundJob => ({
  name: 'renew-certificate',
  inDoubt: 'waits',
  oncePer: 'process',
  every: hours(1),
  run: async () => ({ renewed: Number(await renew()) }),
});
