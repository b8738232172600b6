// The lines that set up publishing tools for this package in this store.
import { html, type Html } from '#http/pages/html.ts';
import { tokenVariable, toolAddresses } from '#domain/tokens/publishing-tools.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Config } from '#configuration/config.ts';

interface ToolLines {
  tool: string;
  lines: readonly string[];
}

export function renderToolLines(config: Pick<Config, 'http' | 'registry'>, subject: PublishedPackage): Html {
  const { tool, lines } = linesFor(config, subject);
  const { namespace, name } = subject;
  const isTool = tool === 'snapcraft' || tool === 'charmcraft';
  return html`<details class="more">
    <summary>Publish with ${tool}</summary>
    <p>
      ${
        isTool
          ? html`These lines point ${tool} at this store. The token in them is made on the host of the store:
              <code>larder token issue --account ID --for ${tool} --package ${namespace}:${name} --ttl 86400</code>
              prints all of them with it.`
          : html`Run these lines on the host of the store.`
      }
    </p>
    <pre tabindex="0" role="region" aria-label="Lines for ${tool}"><code>${lines.join('\n')}</code></pre>
  </details>`;
}

function linesFor(
  { http, registry }: Pick<Config, 'http' | 'registry'>,
  { namespace, name }: PublishedPackage,
): ToolLines {
  const addresses = { base: http.base_url.replace(/\/$/, ''), registry: registry.external };
  const exported = (tool: 'snapcraft' | 'charmcraft'): string[] => [
    ...Object.entries(toolAddresses(tool, addresses)).map(([variable, value]) => `export ${variable}='${value}'`),
    `export ${tokenVariable[tool]}='TOKEN'`,
  ];
  switch (namespace) {
    case 'snap':
      return {
        tool: 'snapcraft',
        lines: [
          ...exported('snapcraft'),
          `snapcraft upload ${name}_VERSION_ARCHITECTURE.snap`,
          `snapcraft release ${name} REVISION edge`,
          `snapcraft status ${name}`,
        ],
      };
    case 'charm':
      return {
        tool: 'charmcraft',
        lines: [
          ...exported('charmcraft'),
          `charmcraft upload ${name}.charm`,
          `charmcraft release ${name} --revision=REVISION --channel=latest/edge`,
          `charmcraft status ${name}`,
        ],
      };
    default:
      return {
        tool: namespace === 'rock' ? 'rockcraft' : 'larder',
        lines: [
          ...(namespace === 'rock' ? ['rockcraft pack'] : []),
          `larder package push ./${name}${namespace === 'rock' ? '_VERSION_ARCHITECTURE.rock' : ''} --package ${namespace}/${name}`,
          `larder release ${namespace}/${name} REVISION latest/edge`,
          `larder channels ${namespace}/${name}`,
        ],
      };
  }
}
