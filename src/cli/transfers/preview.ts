// larder transfer preview
import { resolve } from 'node:path';

import { presentPreview, buildPreviewReport } from '#transfers/accept/report.ts';
import { command } from '../frame/command.ts';
import { writeNew } from '../frame/outside-files.ts';
import { withStore } from '../frame/store.ts';
import { parseSelection, selectionOptions, withTransferPreview } from './staged-transfer.ts';
import { renderReportPage, renderReportText } from './report.ts';

export const transferPreview = command({
  name: 'transfer preview',
  summary: 'Show the changes that a waiting transfer would make, their evidence, and what prevents them.',
  description:
    'Exit code 1 means that something prevents acceptance. Local data wins: a name that belongs to another ' +
    'account here, an existing revision with other content, and a package of this site are never changed.',
  positionals: [{ name: 'id', summary: 'The first digits of the id of the transfer.' }],
  options: {
    ...selectionOptions,
    html: { type: 'string', value: 'FILE', summary: 'Write the preview also as one page to this new file.' },
  },
  examples: ['larder transfer preview 3f9a01', "larder transfer preview 3f9a01 --without 'charm/*' --json"],

  run: ({ positionals: { id }, options, data, world }) =>
    withStore(
      { data, world },
      (store) =>
        withTransferPreview(store, id, parseSelection(options), async (preview) => {
          const { html } = options;
          const page =
            html === undefined
              ? undefined
              : await writeNew(resolve(html), store.asCaller, (add) =>
                  add(renderReportPage(buildPreviewReport(preview))),
                );
          // Only one of text and json is printed, and each is as long as the transfer.
          return {
            get text() {
              return renderReportText(buildPreviewReport(preview));
            },
            json: { ...presentPreview(preview), ...(page !== undefined && { page }) },
            exitCode: preview.plan.problems.length === 0 ? 0 : 1,
          };
        }),
      { writesOutside: options.html !== undefined },
    ),
});
