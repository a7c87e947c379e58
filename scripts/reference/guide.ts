import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path/posix';
import { Marked, type RendererObject, type Tokens } from 'marked';

/** Renders documents as pages that the process serves below `/docs/`, in the look of the others. */

/** Addresses of files to which these documents link, relative to the pages. Other links to files become text. */
const ADDRESSES: Readonly<Record<string, string | undefined>> = {
  'docs/integrators.md': 'guide',
  'client/README.md': 'client',
  'docs/reference.md#operations': '../docs',
  'examples/sync/sync.py': 'sync.py',
  'examples/sync/sync.ts': 'sync.ts',
  'examples/dlt/foyer_source.py': 'foyer_source.py',
};

/** Shown where scripts run. */
const NOTE = `<p id="note" hidden>
  The examples have the address of this service. When a key is entered in the <a href="../docs">API documentation</a>,
  commands are copied with it.
</p>`;

/**
 * Renders a document as a page.
 * @param root URL of the folder of the project
 * @param path such as `docs/integrators.md`
 */
export async function guidePage(root: URL, path: string): Promise<string> {
  const marked = new Marked<string>({ renderer: rendererOf(path) });
  const tokens = marked.lexer(await readFile(new URL(path, root), 'utf8'));
  const headings = tokens.filter((token): token is Tokens.Heading => token.type === 'heading');
  const titles = headings.filter(({ depth }) => depth === 1).map(({ text }) => text);
  const sections = headings.filter(({ depth }) => depth === 2);
  const links = sections.map(
    ({ text }) => `<li>${linkTo(text, marked.parseInline(text, { async: false }))}</li>`,
  );
  return `<!doctype html>
<!-- Generated from ${path} by \`npm run reference\`. Do not edit. -->
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>${titles.join()} · Foyer</title>
    <link rel="icon" href="../shared/icon.svg" />
    <link rel="stylesheet" href="../shared/theme.css" />
    <link rel="stylesheet" href="../shared/components.css" />
    <link rel="stylesheet" href="guide.css" />
    <script type="module" src="guide.js"></script>
  </head>
  <body>
    <header>
      <p class="product"><img src="../shared/icon.svg" alt="" width="24" height="24" /> Foyer</p>
      <nav aria-label="Pages">
        <a href="guide">Guide</a>
        <a href="client">TypeScript client</a>
        <a href="../docs">API documentation</a>
        <a href="../openapi.json">OpenAPI document</a>
      </nav>
    </header>
    <nav class="contents" aria-label="Contents">
      <ul>
        ${links.join('\n        ')}
      </ul>
    </nav>
    <main>
${marked.parser(tokens)}
    </main>
  </body>
</html>
`;
}

function rendererOf(document: string): RendererObject {
  return {
    heading({ depth, text, tokens }) {
      const content = this.parser.parseInline(tokens);
      if (depth === 1) return `<h1>${content}</h1>\n${NOTE}\n`;
      return `<h${depth} id="${anchorOf(text)}">${linkTo(text, content)}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const content = this.parser.parseInline(tokens);
      const address = /^(#|https:)/.test(href) ? href : ADDRESSES[join(dirname(document), href)];
      return address === undefined ? content : `<a href="${address}">${content}</a>`;
    },
    // Pictures of pages.
    html: () => '',
  };
}

/** Returns a link to a heading. */
function linkTo(heading: string, content: string): string {
  return `<a href="#${anchorOf(heading)}">${content}</a>`;
}

/** Returns the anchor of a heading, as GitHub derives it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}
