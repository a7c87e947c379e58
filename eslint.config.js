import eslint from '@eslint/js';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      'node_modules/',
      'coverage/',
      'data/',
      'client/src/generated/',
      'client/dist/',
      // The programs of generated clients compile with these only.
      'test/clients/programs/',
    ],
  },
  eslint.configs.recommended,
  {
    files: ['**/*.ts', 'src/pages/**/*.js'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      'no-duplicate-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      'no-console': 'error',
    },
  },
  {
    // TypeScript checks the names in the modules of pages, which run in a browser.
    files: ['src/pages/**/*.js'],
    rules: { 'no-undef': 'off' },
  },
  {
    // Requests and files reach the regular expressions of the service. Their time must grow linearly with the text.
    files: ['src/**/*.ts'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  {
    // Settings come from config.ts.
    files: ['src/**/*.ts'],
    ignores: ['src/config.ts'],
    rules: {
      'no-restricted-properties': ['error', { object: 'process', property: 'env' }],
      'no-restricted-imports': ['error', 'process', 'node:process'],
    },
  },
  {
    // All lines count.
    files: ['src/**/*.ts'],
    rules: { 'max-lines': ['error', 250], 'max-lines-per-function': ['error', 90] },
  },
  {
    // Declarations.
    files: ['src/config.ts', 'src/contract/{operations,resources,openapi/*}.ts'],
    rules: { 'max-lines': 'off' },
  },
  {
    // Its inner functions share the state of a descent.
    files: ['src/store/index/wavelet-matrix.ts'],
    rules: { 'max-lines-per-function': ['error', 100] },
  },
  {
    // A command line speaks to its user on the terminal.
    files: ['scripts/**/*.ts', 'examples/**/*.ts', 'test/soak/*.ts'],
    // These print texts of files: by scripts/terminal/print.ts.
    ignores: ['scripts/{diff,snapshot}/*.ts', 'scripts/{keys,run-command,sample}.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    // chai asserts with expressions (`expect(x).to.be.true`).
    files: ['test/**/*.ts'],
    rules: { '@typescript-eslint/no-unused-expressions': 'off' },
  },
);
