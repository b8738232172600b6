// Identifies unauthenticated clients. Limits for such clients apply to each of these.
import { isIPv6 } from 'node:net';

/**
 * The client behind an address: an IPv4 address, or the /64 of an IPv6 address. A /64 is the smallest block that an
 * IPv6 user gets (RFC 6177), so limits on single addresses would have no effect.
 */
export function clientOf(address: string): string {
  const [bare = ''] = address.split('%', 1); // after the % is an interface of this host
  if (!isIPv6(bare)) return address;
  const groups = groupsOf(bare);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return groups.slice(6).flatMap(bytesOf).join('.');
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}

/** The eight groups of sixteen bits (RFC 4291, 2.2). */
function groupsOf(address: string): number[] {
  const [head = [], tail] = address.split('::').map((part) => part.split(':').filter(Boolean).flatMap(numbersOf));
  if (tail === undefined) return head;
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

/** One group, or the two groups of an embedded IPv4 address at the end. */
function numbersOf(part: string): number[] {
  if (!part.includes('.')) return [parseInt(part, 16)];
  const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

const bytesOf = (group: number): number[] => [group >> 8, group & 255];
