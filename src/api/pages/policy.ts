// What a browser may do with a page of ours: load our own style sheets and pictures, send its forms to us, and nothing else. It
// keeps nothing, frames nothing, and tells others nothing of the address.

/** More that a kind of pages may do. */
interface More {
  /** Whether it runs scripts of ours, which ask us. */
  scripts?: boolean;
  /** An origin to which its form may lead in the end, besides our own. */
  leadsTo?: string | undefined;
}

export const pageHeaders = ({ scripts = false, leadsTo }: More = {}): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'self'",
    ...(scripts ? ["script-src 'self'", "connect-src 'self'"] : []),
    "img-src 'self'",
    `form-action 'self'${leadsTo === undefined ? '' : ` ${leadsTo}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Browsers name the origin of a form only where this allows it.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
});
