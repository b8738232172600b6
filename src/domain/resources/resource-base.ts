// The bases of a resource revision. `all` stands for every base, every channel or every architecture.
import { Refusal } from '../refusal.ts';

export interface ResourceBase {
  name: string;
  channel: string;
  architectures: string[];
}

/**
 * Merges entries with the same name and channel, with their architectures in the given order. Refuses an entry that is
 * given twice.
 */
export function mergeBases(
  bases: readonly { name?: string; channel?: string; architectures: readonly string[] }[],
): ResourceBase[] {
  const merged = new Map<string, ResourceBase>();
  const seen = new Set<string>();
  for (const { name = 'all', channel = 'all', architectures } of bases) {
    const entry = JSON.stringify([name, channel, architectures]);
    if (seen.has(entry))
      throw new Refusal('api-error', `The base '${name}' of the channel '${channel}' is given twice at /bases`);
    seen.add(entry);
    const key = JSON.stringify([name, channel]);
    const existing = merged.get(key)?.architectures ?? [];
    merged.set(key, { name, channel, architectures: [...new Set([...existing, ...architectures])] });
  }
  return [...merged.values()];
}

export const everywhere: ResourceBase[] = [{ name: 'all', channel: 'all', architectures: ['all'] }];
