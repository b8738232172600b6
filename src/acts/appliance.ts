// The appliance itself: what it and whoever looks after its host do to the store as a whole.
import { act } from './act.ts';

export const renewCertificate = act({
  name: 'renew_certificate',
  summary: 'Prove the server with another certificate than before.',
  object: () => 'certificate',
  gate: { never: 'it follows from the time, or from files on the host' },

  async perform(_tx, { hosts, ends, fingerprint }: { hosts: string[]; ends: Date; fingerprint: string }, { note }) {
    note({ hosts, ends: ends.toISOString(), fingerprint });
    return Promise.resolve();
  },
});
