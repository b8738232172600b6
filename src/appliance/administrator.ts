// Reads the store administrator's credential from the configuration file as it is now: a replaced credential is refused
// at the next request, even without a reload.
import { statSync } from 'node:fs';
import { readConfig, type Config } from '#configuration/config.ts';

type AuthSettings = Config['auth'];

/**
 * Returns the [auth] section, and reads the file again only when it has changed. If the file cannot be read, the last
 * valid section counts.
 */
export function followAdministrator(file: string, running: () => AuthSettings): () => AuthSettings {
  let seen: { version: string; loaded: AuthSettings; auth: AuthSettings } | undefined;
  return () => {
    const loaded = running();
    const version = versionOf(file);
    if (seen?.version === version && seen.loaded === loaded) return seen.auth;
    let auth = seen?.loaded === loaded ? seen.auth : loaded;
    try {
      auth = readConfig(file).auth;
    } catch {
      // The file is being edited, or is wrong; 'larder doctor' says so.
    }
    seen = { version, loaded, auth };
    return auth;
  };
}

function versionOf(file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ');
}
