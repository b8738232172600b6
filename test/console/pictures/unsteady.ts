// The parts of a page that differ between two runs of the same code. The pictures show the text at the right instead.
import type { Page } from 'playwright-core';

interface UnsteadyText {
  pattern: RegExp;
  /** A character repeated over the length of the match, or a text. */
  shown: string;
  because: string;
}

const fingerprint = '(?:[0-9a-f]{4}-){3,}[0-9a-f]{4}';

/** In this order: a fingerprint looks like the end of a UUID. */
export const unsteadyTexts: readonly UnsteadyText[] = [
  { pattern: /127\.0\.0\.1:\d+/g, shown: '127.0.0.1:8080', because: 'the test takes a free port' },
  { pattern: /\/tmp\/larder-[^/\s"]+/g, shown: '/tmp/larder', because: 'the name of a temporary folder is random' },
  {
    pattern: /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
    shown: '00000000-1111-4222-8333-444444444444',
    because: 'ids of uploads, sessions, requests and works are random',
  },
  { pattern: /(?<=Session )[0-9a-f]{8}/g, shown: '00000000', because: 'the beginning of a random id' },
  {
    pattern: new RegExp(`\\b${fingerprint}\\b`, 'g'),
    shown: '0123-4567-89ab-cdef',
    because: 'a store and a site make their keys at random',
  },
  {
    pattern: /\b(?:[0-9a-f]{96}|[0-9a-f]{64})\b/g,
    shown: '0123456789abcdef'.repeat(4),
    because: 'digests of signed content, and keys',
  },
  {
    pattern: /(?<![\w-])(?=[^\s]*\d)[\w-]{43}(?![\w-])/g,
    shown: 'abcdefghijklmnopqrstuvwxyz-0123456789_ABCDEF',
    because: 'secrets and keys in base64url are random',
  },
  {
    pattern: /\b(?=\w*\d)[A-Za-z0-9]{32}\b/g,
    shown: 'abcdefghijklmnopqrstuvwxyz012345',
    because: 'ids of packages are random',
  },
  {
    pattern: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(?!000)\d{3}Z/g,
    shown: '2026-03-01T12:00:00.000Z',
    because: 'a process of its own prepares a request, with the real clock',
  },
  { pattern: /\b\d+ requests, no failures/g, shown: '25 requests, no failures', because: 'the browser caches' },
  { pattern: /(?<=\bRelease )[\w.+-]+\w/g, shown: '0.0.0', because: 'every release would change every page' },
];

/** Times that a process of its own took from the real clock: the still clock has no milliseconds. */
const realTime = /\.(?!000)\d{3}Z$/;

/** Drawings of such texts, which are hidden. */
const unsteadyDrawings = '.qr, svg[aria-label$="by the minute"]';

/** Replaces the unsteady parts of the current page. */
export async function steady(page: Page): Promise<void> {
  const texts = unsteadyTexts.map(({ pattern: { source }, shown }) => [source, shown]);
  await page.evaluate(`(() => {
    const texts = ${JSON.stringify(texts)}.map(([source, shown]) => [new RegExp(source, 'g'), shown]);
    const replaced = (text) => texts.reduce((sum, [pattern, shown]) => sum.replace(pattern, shown), text);
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { currentNode: node } = walker;
      const text = replaced(node.data);
      if (text !== node.data) node.data = text;
    }
    for (const time of document.querySelectorAll('time'))
      if (${String(realTime)}.test(time.dateTime)) time.textContent = '2026-03-01 12:00 UTC';
    for (const hidden of document.querySelectorAll(${JSON.stringify(unsteadyDrawings)})) hidden.style.visibility = 'hidden';
    for (const field of document.querySelectorAll('input:not([type=checkbox], [type=radio], [type=file]), textarea'))
      field.value = replaced(field.value);
  })()`);
}
