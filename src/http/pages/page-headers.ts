// The security headers of our pages. A page may load our own style sheets and pictures and submit forms to us, and nothing else. It is not
// cached, shows no frames, and sends its address to no other site.

/** Additional rights of a kind of pages. */
interface More {
  /** Whether it runs our scripts, which may send requests to us, and loads our fonts. */
  scripts?: boolean;
  /** An additional origin that a submitted form may redirect to. */
  leadsTo?: string | undefined;
}

export const pageHeaders = ({ scripts = false, leadsTo }: More = {}): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'self'",
    ...(scripts ? ["script-src 'self'", "connect-src 'self'", "font-src 'self'"] : []),
    "img-src 'self'",
    `form-action 'self'${leadsTo === undefined ? '' : ` ${leadsTo}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Browsers send the origin of a form only if this allows it.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
});
