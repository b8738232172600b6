// The server's certificate is renewed before it ends, while serving; a site's own one is read again when it was replaced.
import { hours } from '#domain/clock.ts';
import type { Job } from './runner.ts';

export const renewCertificate = (renew: () => Promise<boolean>): Job => ({
  name: 'renew-certificate',
  inDoubt: 'waits',
  oncePer: 'process',
  every: hours(1),
  run: async () => ({ renewed: Number(await renew()) }),
});
