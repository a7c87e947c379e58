import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../support/command.ts';
import type { Component } from '../support/components.ts';

/**
 * Generators of clients, with their default settings. The commands run in a copy of the folder `programs/NAME`, which has
 * a program that uses the client. `$DOCUMENT` is the address of the OpenAPI document, which is also in the file
 * `openapi.json`. `$INPUT` is the argument of the program.
 */
export interface Generator {
  readonly name: string;
  /** A folder with files that programs of a language share. */
  readonly shared?: string;
  /** Languages that npm does not install. */
  readonly components?: readonly Component[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Provides the packages in their pinned versions. */
  readonly prepare?: string;
  readonly generate: string;
  readonly compile: string;
  /** Undefined if the client is compiled only. */
  readonly run?: string;
}

/** Downloaded packages are kept here. */
export const CACHE = join(ROOT, 'node_modules/.cache/clients');
export const PROGRAMS = fileURLToPath(new URL('programs/', import.meta.url));
const VENV = join(CACHE, 'python');

const TYPESCRIPT = { shared: 'typescript', compile: 'tsc', run: 'node dist/main.js "$INPUT"' };

const PYTHON = {
  components: ['Python 3.11 with venv'],
  environment: {
    PATH: `${VENV}/bin:${process.env['PATH'] ?? ''}`,
    PIP_CACHE_DIR: join(CACHE, 'pip'),
  },
  prepare: `python3 -m venv "${VENV}" && pip install --quiet --requirement "${PROGRAMS}requirements.txt"`,
  run: 'python main.py "$INPUT"',
} as const satisfies Partial<Generator>;

const GO = {
  shared: 'go',
  components: ['Go 1.25'],
  environment: {
    GOCACHE: join(CACHE, 'go-build'),
    GOMODCACHE: join(CACHE, 'go'),
    GOFLAGS: '-modcacherw',
    // Never another version of Go than that of the machine.
    GOTOOLCHAIN: 'local',
  },
  compile: 'go mod tidy && go build -o program .',
  run: './program "$INPUT"',
} as const satisfies Partial<Generator>;

const OPENAPI_GENERATOR = {
  artifact: 'org.openapitools:openapi-generator-cli:7.23.0',
  jar: 'openapi-generator-cli-7.23.0.jar',
  sha256: 'cb087e40001e31eb08ef6140dd5de10938dbeb89016a1fe0481eaa25cd569026',
};

/** Returns a generator of openapi-generator, which keeps a verified copy of its program. */
function openApiGenerator(
  language: string,
  { components = [], environment, prepare, ...more }: Omit<Generator, 'name' | 'generate'>,
): Generator {
  const { artifact, jar, sha256 } = OPENAPI_GENERATOR;
  const copy = `mvn -q org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact=${artifact}`;
  const steps = [
    `{ test -e "${CACHE}/${jar}" || ${copy} "-DoutputDirectory=${CACHE}"; }`,
    `ln -s "${CACHE}/${jar}" .`,
    `echo "${sha256}  ${jar}" | sha256sum --check --quiet`,
    ...(prepare === undefined ? [] : [prepare]),
  ];
  return {
    ...more,
    name: `openapi-generator-${language}`,
    components: ['JDK 17', 'Maven', ...components],
    environment: { ...environment, MAVEN_OPTS: `-Dmaven.repo.local=${join(CACHE, 'maven')}` },
    prepare: steps.join(' && '),
    generate: `java -jar ${jar} generate -i "$DOCUMENT" -g ${language} -o client`,
  };
}

const CLASSES = 'client/target/classes:client/target/dependency/*';

export const GENERATORS: readonly Generator[] = [
  {
    ...TYPESCRIPT,
    name: 'openapi-fetch',
    generate: 'openapi-typescript "$DOCUMENT" -o schema.d.ts',
  },
  {
    ...TYPESCRIPT,
    name: 'hey-api',
    generate: 'openapi-ts -i "$DOCUMENT" -o client',
  },
  {
    ...PYTHON,
    name: 'openapi-python-client',
    environment: { ...PYTHON.environment, PYTHONPATH: 'installed', MYPYPATH: 'installed' },
    generate: 'openapi-python-client generate --url "$DOCUMENT"',
    compile: 'pip install --quiet --no-deps --target installed ./foyer-api-client && mypy --strict main.py',
  },
  {
    ...PYTHON,
    name: 'datamodel-code-generator',
    generate: 'datamodel-codegen --input openapi.json --output models.py',
    compile: 'python -c "import models"',
  },
  openApiGenerator('python', {
    ...PYTHON,
    environment: { ...PYTHON.environment, PYTHONPATH: 'client' },
    compile: 'python -c "import openapi_client"',
  }),
  {
    ...GO,
    name: 'oapi-codegen',
    prepare: 'go get -tool github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2',
    generate: 'go tool oapi-codegen -package main "$DOCUMENT" > foyer.go',
  },
  {
    ...GO,
    name: 'ogen',
    prepare: 'go get -tool github.com/ogen-go/ogen/cmd/ogen@v1.24.0',
    generate: 'go tool ogen --clean "$DOCUMENT"',
  },
  openApiGenerator('go', GO),
  openApiGenerator('java', {
    compile: `mvn -q -f client compile dependency:copy-dependencies && javac -cp "${CLASSES}" -d program Main.java`,
    run: `java -cp "program:${CLASSES}" Main "$INPUT"`,
  }),
  openApiGenerator('rust', {
    components: ['Rust 1.88'],
    environment: { CARGO_HOME: join(CACHE, 'cargo'), CARGO_TARGET_DIR: join(CACHE, 'cargo-target') },
    // Without TLS, whose crate needs headers of OpenSSL.
    compile:
      'cp Cargo.lock client && cargo check --quiet --no-default-features --manifest-path client/Cargo.toml',
  }),
];
