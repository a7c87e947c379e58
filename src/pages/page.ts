import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';

/**
 * The web pages of both ports. A page is a folder of HTML, style sheets and JavaScript modules, which the process serves
 * as they are, with those of `shared/`, files of libraries and downloads. Nothing is fetched from another origin.
 */

/** A file of a page. */
export interface PageFile {
  /** Path relative to the folder in which the page appears, such as `explorer/explorer.js`. */
  readonly path: string;
  readonly contentType: string;
  readonly read: () => Buffer;
}

export interface Page {
  /** The HTML document. Its links are relative, so that a proxy can add a prefix to all paths. */
  readonly document: PageFile;
  readonly files: readonly PageFile[];
  /** Value of the header `Content-Security-Policy` for the document and its files. */
  readonly contentSecurityPolicy: string;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.tgz': 'application/gzip',
};
/** Of a program, which a browser shows. */
const TEXT_TYPE = 'text/plain; charset=utf-8';

// `import.meta.resolve` selects the build of a package for Node, where there is one.
const LIT_HTML = new URL('../', import.meta.resolve('lit-html'));
const TEMPLATES = [new URL('lit-html.js', LIT_HTML)];
const CHARTS = ['uplot/dist/uPlot.esm.js', 'uplot/dist/uPlot.min.css'].map(resolved);

const EXAMPLES = ['sync/sync.py', 'sync/sync.ts', 'dlt/foyer_source.py'].map(
  (path) => new URL(`../../examples/${path}`, import.meta.url),
);
/** The client as examples import it here. Where they are downloaded, they import its package. */
const CLIENT_SOURCE = '../../client/src/foyer-client.ts';

/** Files of libraries and downloads by page. They are served with the files of the page. */
const OTHER_FILES = {
  docs: [
    ...['swagger-ui-dist/swagger-ui-bundle.js', 'swagger-ui-dist/swagger-ui.css'].map(resolved),
    ...EXAMPLES,
  ],
  explorer: [...TEMPLATES, ...CHARTS],
  status: [...TEMPLATES, ...CHARTS],
} as const satisfies Record<string, readonly URL[]>;

/** Folder of the files that all pages use. Modules import them by the same relative path here and in a browser. */
const SHARED = 'shared';

export type PageName = keyof typeof OTHER_FILES;

/** Lists the files of a page. Their content is read when they are requested. */
export function pageOf(name: PageName): Page {
  const document = pageFile(name, new URL(`${name}/${name}.html`, import.meta.url));
  const assets = filesIn(name).filter((url) => basename(url.pathname) !== `${name}.html`);
  return {
    document,
    files: [
      ...[...assets, ...OTHER_FILES[name]].map((url) => fileIn(name, url)),
      ...filesIn(SHARED).map((url) => fileIn(SHARED, url)),
    ],
    contentSecurityPolicy: policyOf(document.read().toString()),
  };
}

/**
 * Returns the policy of a page: files and requests of its own origin only. The import map, the only inline script, is
 * permitted by its digest.
 */
function policyOf(html: string): string {
  const inline = Array.from(html.matchAll(/<script type="importmap">(.*?)<\/script>/gs), ([, text]) => text);
  const digests = inline.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  return [
    "default-src 'none'",
    ["script-src 'self'", ...digests].join(' '),
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function filesIn(folder: string): URL[] {
  const url = new URL(`${folder}/`, import.meta.url);
  return readdirSync(url)
    .filter((name) => extname(name) in CONTENT_TYPES)
    .map((name) => new URL(name, url));
}

/** Describes a file that appears in a folder under its own name, a further document without `.html`. */
function fileIn(folder: string, url: URL): PageFile {
  return pageFile(`${folder}/${basename(url.pathname, '.html')}`, url);
}

function pageFile(path: string, url: URL): PageFile {
  const contentType = CONTENT_TYPES[extname(url.pathname)] ?? TEXT_TYPE;
  const read = () => readFileSync(url);
  const readProgram = () => Buffer.from(read().toString().replace(CLIENT_SOURCE, 'foyer-client'));
  return { path, contentType, read: contentType === TEXT_TYPE ? readProgram : read };
}

function resolved(specifier: string): URL {
  return new URL(import.meta.resolve(specifier));
}
