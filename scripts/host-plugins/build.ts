/** Builds the plugins of Headlamp and Argo CD with Vite: one file each, with the React of the host. */
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'vite'
import { bundledLicenses } from '../bundle-licenses.ts'
import { scopedStyles } from './scoped-styles.ts'
import { compactStyles } from './compact-styles.ts'
import { withoutDescriptions } from './without-descriptions.ts'
import { withoutSummaries } from './without-summaries.ts'

/** A plugin of a host. */
interface HostPlugin {
  /** Folder of the plugin, as the host expects it. */
  readonly folder: string
  readonly file: string
  readonly entry: string
  /** Global of the host by module. */
  readonly globals: Readonly<Record<string, string>>
  /** Largest size in kB, compressed with gzip. */
  readonly budgetKb: number
}

const app = 'apps/host-plugins'

const plugins: readonly HostPlugin[] = [
  {
    folder: 'headlamp/tranche',
    file: 'main.js',
    entry: 'src/headlamp/main.tsx',
    globals: { react: 'pluginLib.React', 'react-dom': 'pluginLib.ReactDOM', 'react/jsx-runtime': 'pluginLib.ReactJSX' },
    budgetKb: 290,
  },
  {
    folder: 'argo-cd/tranche',
    file: 'extension-tranche.js',
    entry: 'src/argo-cd/main.tsx',
    // Members: Argo CD before 3.5 has only React, and a missing variable would be an error.
    globals: { react: 'window.React', 'react-dom': 'window.ReactDOM', 'react/jsx-runtime': 'window.ReactJSXRuntime' },
    budgetKb: 290,
  },
]

/** A built plugin. */
export interface BuiltPlugin {
  readonly file: string
  readonly bytes: number
  readonly gzipBytes: number
  readonly budgetKb: number
}

/** Size that fits into a ConfigMap together with the manifest; all data of one are limited to 1 MiB. */
const MOST_BYTES = 1_000_000

/** Builds all plugins below a folder. @throws {Error} if one is larger than its budget */
export async function buildHostPlugins(folder: string): Promise<readonly BuiltPlugin[]> {
  const built: BuiltPlugin[] = []
  for (const plugin of plugins) built.push(await buildOne(plugin, resolve(folder, plugin.folder)))
  writeHeadlampManifest(resolve(folder, 'headlamp/tranche'))
  for (const { file, bytes, gzipBytes, budgetKb } of built) {
    if (gzipBytes > budgetKb * 1_000) throw new Error(`${file} has ${kb(gzipBytes)} kB compressed, more than its budget of ${budgetKb} kB`)
    if (bytes > MOST_BYTES) throw new Error(`${file} has ${kb(bytes)} kB, more than fits into a ConfigMap`)
  }
  return built
}

/** @returns a size in kB, rounded up */
export function kb(bytes: number): number {
  return Math.ceil(bytes / 1_000)
}

async function buildOne({ file, entry, globals, budgetKb }: HostPlugin, outDir: string): Promise<BuiltPlugin> {
  const root = resolve(app)
  const environment = process.env['NODE_ENV']
  // Any other value, as in a test, would build the development version of the libraries.
  process.env['NODE_ENV'] = 'production'
  try {
    const results = await build({
      root,
      configFile: false,
      envDir: false,
      logLevel: 'error',
      define: { 'process.env.NODE_ENV': '"production"' },
      plugins: [importAtOnce(), hostStyles(root), slimSchemas, slimErrors, withoutPrint],
      oxc: { jsx: { runtime: 'automatic' } },
      build: {
        outDir,
        emptyOutDir: true,
        target: 'es2023',
        cssCodeSplit: false,
        lib: { entry: join(root, entry), formats: ['iife'], name: 'tranche', fileName: () => file },
        rolldownOptions: {
          external: Object.keys(globals),
          output: { globals, codeSplitting: false },
          treeshake: {
            moduleSideEffects: (id) => !/\/(?:packages\/[^/]+|apps)\/[^/]+\/src\//.test(id) || id.includes(entry),
            manualPureFunctions: ['z'],
          },
        },
      },
    })
    const chunks = [results].flat().flatMap((result) => ('output' in result ? result.output : []))
    const modules = chunks.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []))
    writeFileSync(join(outDir, 'THIRD-PARTY-LICENSES'), bundledLicenses(modules))
  } finally {
    if (environment === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = environment
  }
  const path = join(outDir, file)
  return { file: path, bytes: statSync(path).size, gzipBytes: gzipSync(readFileSync(path)).byteLength, budgetKb }
}

/** Schemas without their descriptions: a host loads every page with the plugin. */
const slimSchemas: Plugin = {
  name: 'slim-schemas',
  enforce: 'pre',
  transform: (code, id) => (/\/packages\/words\/api-schema\/src\/.*\.ts$/.test(id) ? { code: withoutDescriptions(code), map: null } : null),
}

/** No host can print a report: each says so in its `missing` parts. */
const withoutPrint: Plugin = {
  name: 'without-print',
  enforce: 'pre',
  transform: (_code, id) =>
    id.endsWith('/release-report/print-report.tsx') ? { code: 'export const PrintReport = () => null', map: null } : null,
}

/** Errors without their summaries, which no page reads. */
const slimErrors: Plugin = {
  name: 'slim-errors',
  enforce: 'pre',
  transform: (code, id) => (id.endsWith('/packages/words/errors/src/catalog.ts') ? { code: withoutSummaries(code), map: null } : null),
}

/**
 * Imports some modules at once that are otherwise imported by a call, when they are needed. A plugin is one file, so it loads nothing later.
 * But a module that is imported by a call is kept as a whole, and so is everything that it imports: all schemas of the API. Charts stay
 * as they are, because their library needs a document when it is loaded.
 */
function importAtOnce(): Plugin {
  return {
    name: 'import-at-once',
    enforce: 'pre',
    transform(code, id) {
      const module = atOnce.get(id)
      if (module === undefined) return null
      const call = `await import('${module}')`
      if (!code.includes(call)) throw new Error(`${id} has no ${call}`)
      return { code: `import * as importedAtOnce from '${module}'\n${code.replaceAll(call, 'importedAtOnce')}`, map: null }
    },
  }
}

/** Modules by the file that imports them. */
const atOnce: ReadonlyMap<string, string> = new Map([
  [resolve('packages/adapters/api-client/src/api-client.ts'), './later-schemas.ts'],
  [resolve('apps/dashboard/src/pages/rollout/revisions/revision-changes.tsx'), './template-diff.tsx'],
])

const VIRTUAL = 'virtual:host-styles'

/** Gives the code its style sheet as text, and drops every other one: a host loads one file. */
function hostStyles(root: string): Plugin {
  const chart = createRequire(join(resolve('apps/dashboard'), 'package.json')).resolve('uplot/dist/uPlot.min.css')
  const entries = [chart, resolve('apps/dashboard/src/styles/index.css'), join(root, 'src/styles/host.css')]
  return {
    name: 'host-styles',
    enforce: 'pre',
    resolveId: (id) => (id === VIRTUAL ? `\0${VIRTUAL}` : id.endsWith('.css') ? '\0no-styles' : null),
    load: (id) =>
      id === `\0${VIRTUAL}`
        ? `export const text = ${JSON.stringify(compactStyles(scopedStyles(entries)))}`
        : id === '\0no-styles'
          ? 'export {}'
          : null,
  }
}

/** Headlamp reads name and version, and loads only plugins that name a version of its plugin tool. */
function writeHeadlampManifest(folder: string): void {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const manifest = {
    name: 'tranche',
    version,
    description: 'Progressive delivery of DaemonSets: releases, their nodes, and the actions on them.',
    license: 'Apache-2.0',
    main: 'main.js',
    devDependencies: { '@kinvolk/headlamp-plugin': '^0.13.0' },
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  copyFileSync('LICENSE', join(folder, 'LICENSE'))
}
