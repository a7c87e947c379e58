import { join } from 'node:path';
import { ROOT } from '../support/command.ts';
import type { Component } from '../support/components.ts';

/**
 * Generators of clients, with their default settings. The commands run in a copy of the folder `programs/PROGRAM`, which
 * has a program that uses the client. `$DOCUMENT` is the address of the OpenAPI document, and `$INPUT` the argument of
 * the program.
 */
export interface Generator {
  readonly name: string;
  readonly program: string;
  /** The language that npm does not install. */
  readonly component?: Component;
  readonly environment?: Readonly<Record<string, string>>;
  /** Provides the packages in their pinned versions. */
  readonly prepare?: string;
  readonly generate: string;
  readonly compile: string;
  readonly run: string;
}

/** Downloaded packages are kept here. */
const CACHE = join(ROOT, 'node_modules/.cache/clients');
const VENV = join(CACHE, 'python');

export const GENERATORS: readonly Generator[] = [
  {
    name: 'openapi-typescript with openapi-fetch',
    program: 'openapi-fetch',
    generate: 'openapi-typescript "$DOCUMENT" -o schema.d.ts',
    compile: 'tsc',
    run: 'node dist/main.js "$INPUT"',
  },
  {
    name: '@hey-api/openapi-ts',
    program: 'hey-api',
    generate: 'openapi-ts -i "$DOCUMENT" -o client',
    compile: 'tsc',
    run: 'node dist/main.js "$INPUT"',
  },
  {
    name: 'openapi-python-client',
    program: 'python',
    component: 'Python 3.11 with venv',
    environment: {
      PATH: `${VENV}/bin:${process.env['PATH'] ?? ''}`,
      PIP_CACHE_DIR: join(CACHE, 'pip'),
      PYTHONPATH: 'installed',
      MYPYPATH: 'installed',
    },
    prepare: `python3 -m venv "${VENV}" && pip install --quiet --requirement requirements.txt`,
    generate: 'openapi-python-client generate --url "$DOCUMENT"',
    compile: 'pip install --quiet --no-deps --target installed ./foyer-api-client && mypy --strict main.py',
    run: 'python main.py "$INPUT"',
  },
  {
    name: 'oapi-codegen',
    program: 'go',
    component: 'Go 1.25',
    environment: {
      GOCACHE: join(CACHE, 'go-build'),
      GOMODCACHE: join(CACHE, 'go'),
      GOFLAGS: '-modcacherw',
      // Never another version of Go than that of the machine.
      GOTOOLCHAIN: 'local',
    },
    prepare: 'go get -tool github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2',
    generate: 'go tool oapi-codegen -package main "$DOCUMENT" > foyer.go',
    compile: 'go mod tidy && go build -o client .',
    run: './client "$INPUT"',
  },
];
