// Serves the files that pages load: the style sheet, our script, htmx, the fonts and the icons.
import { anyone } from '#access/access-rules.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';
import { assetFile, isAssetName } from './asset-files.ts';

export const consoleAsset = operation({
  name: 'console_asset',
  method: 'GET',
  path: '/console/assets/:file',
  since: 0,
  summary: 'Give the style sheet, a script, a font or the icons of the console.',
  access: anyone,
  prefixed: false,
  enabledBy: 'http.console',
  query: 'ConsoleAssetQuery',
  produces: ['text/css', 'text/javascript', 'font/woff2', 'image/svg+xml'],
  handle({ params, query }) {
    if (!isAssetName(params.file)) throw new Refusal('resource-not-found', 'The console has no such file.');
    const { type, body, digest } = assetFile(params.file);
    return new OperationResponse({
      headers: {
        'content-type': type.startsWith('text/') ? `${type}; charset=utf-8` : type,
        // A page of another release requests another digest.
        'cache-control': `public, max-age=${query.digest === digest ? '31536000, immutable' : '60'}`,
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      },
      body,
    });
  },
});
