// Who a stranger is. Whatever is limited for each stranger is limited for each of these.
import { isIPv6 } from 'node:net';

/**
 * The client behind an address: an IPv4 address itself, and of an IPv6 address its /64, which is the least that anybody
 * with IPv6 has to himself (RFC 6177): limits for single addresses would be none.
 */
export function clientOf(address: string): string {
  const [bare = ''] = address.split('%', 1); // what stands behind it is an interface of this machine
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

/** One group, or the two that an address ends with when it is written as an IPv4 address. */
function numbersOf(part: string): number[] {
  if (!part.includes('.')) return [parseInt(part, 16)];
  const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

const bytesOf = (group: number): number[] => [group >> 8, group & 255];
