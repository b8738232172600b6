// What the server proves itself with.
import { counted } from '#domain/quantities.ts';
import { days } from '#domain/clock.ts';
import { readCertificates } from '#tls/keeper.ts';
import { speaksTls, tlsSettings } from '#tls/settings.ts';
import { siteFiles, siteProblems } from '#tls/site.ts';
import type { Config } from '#src/config.ts';
import { well, wrong, type Examination, type Finding } from './examination.ts';

export const certificate: Examination = {
  what: 'Certificate',
  look({ data, config }) {
    const settings = config();
    if (!speaksTls(settings)) return plain(settings);
    const found = readCertificates(data, tlsSettings(settings));
    if (found === undefined) return well('the certificates are made at the next start');
    const left = Math.floor((found.ends.getTime() - Date.now()) / days(1));
    const says = `for ${found.hosts.join(', ')}, ${counted(left, 'day')} left; fingerprint ${found.fingerprint}`;
    if (found.own)
      return left >= 14 ? well(says) : wrong(says, 'Start the server: it renews its certificate by itself.');
    const files = siteFiles(tlsSettings(settings));
    const problems = files ? siteProblems(files, tlsSettings(settings).hosts, () => new Date()) : [];
    const mend = "Put a new certificate into the site's files and send the server SIGHUP.";
    if (problems.length > 0) return wrong(`the site's certificate: ${problems.join('; ')}`, mend);
    return left >= 14 ? well(says) : wrong(says, mend);
  },
};

function plain({ http }: Config): Finding {
  const [, host = ''] = /^(.+):\d+$/.exec(http.listen) ?? [];
  return /^(?:127\.|localhost$|\[::1\]$)/.test(host)
    ? well('plain http, on this machine alone')
    : wrong(
        `plain http on ${http.listen}: tokens can be read on the network`,
        'Set http.base_url to an https address, or listen on 127.0.0.1 behind a proxy that speaks TLS.',
      );
}
