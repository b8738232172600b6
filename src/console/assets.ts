// Serves the files that pages load: the style sheet, our script, and htmx as its package ships it.
import { anyone } from '#access/access-rules.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';
import { assetFile, isAssetName } from './asset-files.ts';

export const consoleAsset = operation({
  name: 'console_asset',
  method: 'GET',
  path: '/console/assets/:file',
  since: 0,
  summary: 'Give the style sheet or a script of the console.',
  access: anyone,
  prefixed: false,
  enabledBy: 'http.console',
  query: 'ConsoleAssetQuery',
  produces: ['text/css', 'text/javascript'],
  handle({ params, query }) {
    if (!isAssetName(params.file)) throw new Refusal('resource-not-found', 'The console has no such file.');
    const { type, body, digest } = assetFile(params.file);
    return new OperationResponse({
      headers: {
        'content-type': `${type}; charset=utf-8`,
        // A page of another release requests another digest.
        'cache-control': `public, max-age=${query.digest === digest ? '31536000, immutable' : '60'}`,
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      },
      body,
    });
  },
});
