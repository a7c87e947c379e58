import { styleText } from 'node:util';
import { PREVIEW, VERSION_HEADER } from '../../src/contract/releases.ts';

interface RunningDemo {
  /** Number of organizations. */
  readonly organizations: number;
  /** Addresses by title. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Base URL of the API. */
  readonly api: string;
  readonly credential: string;
  /** Variables by which other commands use the files of the demo. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Prints the addresses, the key, and requests to try. */
export async function printSummary(demo: RunningDemo): Promise<void> {
  const { organizations, addresses, api, credential, environment } = demo;
  console.log(`${styleText('bold', `Foyer serves the sample data of ${organizations} organizations.`)}\n`);
  const rows = Object.entries({ ...addresses, Key: credential });
  const width = Math.max(...rows.map(([title]) => title.length));
  for (const [title, value] of rows) console.log(`  ${title.padEnd(width)}  ${styleText('cyan', value)}`);
  for (const { title, line } of await exampleRequests(api, credential))
    console.log(`\n${styleText('dim', `# ${title}`)}\n${line}`);
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${quoted(value)}`);
  console.log(
    `\n${styleText('dim', '# the environment of other commands with this data, such as npm run keys -- list')}`,
  );
  console.log(`export ${variables.join(' ')}\n`);
  console.log('Press Ctrl-C to stop.');
}

interface ListBody {
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

/** Returns shell commands with ids from the sample data. Each prints a newline after the body. */
async function exampleRequests(
  api: string,
  credential: string,
): Promise<{ readonly title: string; readonly line: string }[]> {
  const authorization = `Authorization: Bearer ${credential}`;
  const response = await fetch(`${api}/v1/tickets?perPage=1`, {
    headers: { Authorization: `Bearer ${credential}` },
  });
  const { items } = (await response.json()) as ListBody;
  const [eventId, updatedAt] = ['eventId', 'updatedAt'].map((field) =>
    encodeURIComponent(String(items[0]?.[field])),
  );
  const curl = (path: string, ...headers: string[]) =>
    [
      String.raw`curl -sw '\n' ${quoted(api + path)}`,
      ...[authorization, ...headers].map((header) => `  -H ${quoted(header)}`),
    ].join(' \\\n');
  return [
    { title: 'a page of events', line: curl('/v1/events?perPage=2') },
    {
      title: 'the tickets of an event, updated at a time or later',
      line: curl(`/v1/tickets?eventIds=${eventId}&updatedAt.gte=${updatedAt}`),
    },
    {
      title: 'the offers of the event, in preview',
      line: curl(`/v1/catalog/offers?eventId=${eventId}&perPage=2`, `${VERSION_HEADER}: ${PREVIEW}`),
    },
  ];
}

/** Quotes a text for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
